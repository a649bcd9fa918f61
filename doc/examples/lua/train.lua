-- SPDX-License-Identifier: MIT
-- Trains on the dataset that doc/examples/loader.c makes, as it does: shuffled, as rank 1 of 4, and
-- resumed in the middle of the epoch.
--
--     luajit train.lua vectors
package.path = arg[0]:gsub('[^/]*$', '') .. '?.lua;' .. package.path
local loaderx = require 'loaderx'

-- In place of a model: a number that depends on every record and on their order.
local function step(digest, batch)
  local data, labels = batch:column 'data', batch:column 'label'
  for i = 0, labels.rows - 1 do
    digest = digest * 31 + data.values[i * data.shape[1]] + labels.values[i]
  end
  return digest
end

local function train(loader, most)
  local digest, count = 0ULL, 0
  for batch in loader:epoch() do
    digest = step(digest, batch)
    batch:release()
    count = count + 1
    if count == most then break end
  end
  return digest
end

local function run(path)
  local source = loaderx.source(path)
  local options = {batch_size = 64, shuffle = 42, rank = 1, world = 4}
  local loader = loaderx.loader(source, options)
  local first = loader:epoch()()
  for _, column in ipairs(first:columns()) do
    print(('%s: %s [%s]'):format(column.name, column.dtype, table.concat(column.shape, ', ')))
  end
  first:release()
  train(loader, 3)
  local state = loader:save()
  print(('%d of %d samples are done: %s'):format(loader:position(), source:length(), state))
  local whole = train(loader)

  -- Another process, which reads in the calling thread.
  options.readers = 0
  local second = loaderx.loader(source, options)
  second:restore(state)
  local resumed = train(second)
  print(('the rest of the epoch: %s, resumed: %s'):format(bit.tohex(whole), bit.tohex(resumed)))
end

local succeeded, failure = pcall(run, arg[1] or 'vectors')
if not succeeded then
  io.stderr:write('train: ', tostring(failure), '\n')
  os.exit(1)
end
