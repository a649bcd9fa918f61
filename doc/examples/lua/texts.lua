-- SPDX-License-Identifier: MIT
-- Prints the texts of a dataset, whose sizes vary:
--
--     loaderx import texts --format lines book.txt
--     luajit texts.lua texts
package.path = arg[0]:gsub('[^/]*$', '') .. '?.lua;' .. package.path
local loaderx = require 'loaderx'

local loader = loaderx.loader(loaderx.source(arg[1] or 'texts'), {batch_size = 64})
for batch in loader:epoch() do
  local texts = batch:column 'text'
  for i = 0, texts.rows - 1 do print(texts:bytes(i)) end
  batch:release()
end
