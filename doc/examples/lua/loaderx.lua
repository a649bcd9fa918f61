-- SPDX-License-Identifier: MIT
-- Batches for training, from libloaderx, for LuaJIT: a part of its C interface, and a start for a
-- module with all of it. doc/bindings.md has the rules that it follows.
--
--     local loaderx = require 'loaderx'
--     local loader = loaderx.loader(loaderx.source 'vectors', {batch_size = 64, shuffle = 42})
--     for batch in loader:epoch() do
--       local labels = batch:column 'label'
--       for i = 0, labels.rows - 1 do print(labels.values[i]) end
--       batch:release()
--     end
--
-- A failure is an error with the members `status` and `message`; tostring() returns the message.
local ffi = require 'ffi'

-- Enums are int. No struct grows.
ffi.cdef [[
typedef struct lx_source lx_source;
typedef struct lx_loader_options lx_loader_options;
typedef struct lx_loader lx_loader;
typedef struct lx_batch lx_batch;

typedef struct lx_error {
  int status;
  int32_t errnum;
  uint64_t record, offset, reserved[4];
  char field[72], path[512], message[512];
} lx_error;

typedef struct lx_column {
  const char *name;
  int dtype;
  size_t ndim;
  const uint64_t *shape;
  uint64_t rows;
  void *data;
  uint64_t size;
  const uint64_t *offsets;
  uint64_t item_size;
} lx_column;

void lx_error_clear(lx_error *);
size_t lx_error_describe(const lx_error *, char *, size_t);
const char *lx_status_get_name(int);
const char *lx_dtype_get_name(int);

int lx_source_open(const char *, const void *, lx_source **, lx_error *);
uint64_t lx_source_get_length(const lx_source *);
void lx_source_unref(lx_source *);

lx_loader_options *lx_loader_options_new(void);
int lx_loader_options_set_batch_size(lx_loader_options *, uint64_t, lx_error *);
int lx_loader_options_set_shuffle(lx_loader_options *, uint64_t, lx_error *);
int lx_loader_options_set_rank(lx_loader_options *, uint64_t, uint64_t, lx_error *);
int lx_loader_options_set_reader_count(lx_loader_options *, uint32_t, lx_error *);
void lx_loader_options_free(lx_loader_options *);

int lx_loader_open(lx_source *, const lx_loader_options *, lx_loader **, lx_error *);
int lx_loader_next(lx_loader *, lx_batch **, lx_error *);
void lx_loader_next_epoch(lx_loader *);
uint64_t lx_loader_tell(const lx_loader *);
int lx_loader_save(const lx_loader *, char *, size_t, size_t *, lx_error *);
int lx_loader_restore(lx_loader *, const char *, lx_error *);
void lx_loader_close(lx_loader *);

uint64_t lx_batch_get_row_count(const lx_batch *);
const uint64_t *lx_batch_get_indices(const lx_batch *);
size_t lx_batch_get_column_count(const lx_batch *);
const lx_column *lx_batch_get_column(const lx_batch *, size_t);
const lx_column *lx_batch_find_column(const lx_batch *, const char *);
void lx_batch_unref(lx_batch *);
]]

-- By its SONAME, which a library with another binary interface does not have. It brings the
-- libraries that it needs.
local C = ffi.load 'libloaderx.so.0'
-- The library writes to it, so a wrong layout would damage memory.
assert(ffi.sizeof 'lx_error' == 1152)
-- Values in batches are little-endian on every machine.
assert(ffi.abi 'le', 'this module would have to swap bytes on this machine')

local LX_OK = 0
local LX_NONE = 0xffffffffffffffffULL

local Error = {}
Error.__index = Error
function Error:__tostring() return self.message end

-- Makes a call with arguments and a last one that receives the failure, and returns its status if
-- it succeeds.
local function call(func, ...)
  local failure = ffi.new 'lx_error'
  C.lx_error_clear(failure)
  local count = select('#', ...)
  local arguments = {...}
  arguments[count + 1] = failure
  local status = func(unpack(arguments, 1, count + 1))
  if status >= 0 then return status end
  local line = ffi.new 'char[2048]'
  C.lx_error_describe(failure, line, 2048)
  error(setmetatable({
    status = ffi.string(C.lx_status_get_name(status)),
    message = ffi.string(line),
  }, Error))
end

-- The C types of elements. Those of other types, such as bfloat16, are read as bytes.
local element_types = {
  int8 = 'int8_t', int16 = 'int16_t', int32 = 'int32_t', int64 = 'int64_t',
  uint8 = 'uint8_t', uint16 = 'uint16_t', uint32 = 'uint32_t', uint64 = 'uint64_t',
  float32 = 'float', float64 = 'double', bool = 'bool',
}

-- A column of a batch: its `name`, the `dtype` with its name in NumPy, the `shape` of a value, the
-- number of `rows`, and the `values` of all records as a C array, which begins at 0 and is valid as
-- long as the column is.
local Column = {}
Column.__index = Column

local function new_column(batch, c)
  local dtype = ffi.string(C.lx_dtype_get_name(c.dtype))
  local shape = {}
  for i = 1, tonumber(c.ndim) do
    shape[i] = c.shape[i - 1] ~= LX_NONE and tonumber(c.shape[i - 1]) or 'varies'
  end
  return setmetatable({
    name = ffi.string(c.name),
    dtype = dtype,
    shape = shape,
    rows = tonumber(c.rows),
    values = ffi.cast('const ' .. (element_types[dtype] or 'uint8_t') .. ' *', c.data),
    c = c,
    batch = batch, -- owns the values
  }, Column)
end

-- Where record i begins, in bytes.
local function offset(c, i)
  return tonumber(c.offsets ~= nil and c.offsets[i] or i * c.size)
end

-- The bytes of record i, counted from 0, as a string: for texts, for example.
function Column:bytes(i)
  assert(i >= 0 and i < self.rows, 'there is no such record')
  local first, last = offset(self.c, i), offset(self.c, i + 1)
  return ffi.string(ffi.cast('const char *', self.c.data) + first, last - first)
end

local Batch = {}
Batch.__index = Batch

-- The column with this name.
function Batch:column(name)
  local c = C.lx_batch_find_column(self.c, name)
  if c == nil then error(('there is no column named "%s"'):format(name), 2) end
  return new_column(self, c)
end

-- A list of all columns.
function Batch:columns()
  local columns = {}
  for i = 1, tonumber(C.lx_batch_get_column_count(self.c)) do
    columns[i] = new_column(self, C.lx_batch_get_column(self.c, i - 1))
  end
  return columns
end

-- The index of each record in the source, as a C array, and their number.
function Batch:indices()
  return C.lx_batch_get_indices(self.c), tonumber(C.lx_batch_get_row_count(self.c))
end

-- Returns the memory to the loader; the batch and its columns must not be used any more. The
-- garbage collector would do it late, because it does not know how large a batch is.
function Batch:release()
  C.lx_batch_unref(ffi.gc(self.c, nil))
  self.c = nil
end

local Source = {}
Source.__index = Source

-- The number of records.
function Source:length()
  return tonumber(C.lx_source_get_length(self))
end

local Loader = {}
Loader.__index = Loader

-- Iterates over the batches that are left of this epoch or, if none is left, those of the next one.
function Loader:epoch()
  C.lx_loader_next_epoch(self)
  return function()
    local batch = ffi.new 'lx_batch *[1]'
    if call(C.lx_loader_next, self, batch) == LX_OK then
      return setmetatable({c = ffi.gc(batch[0], C.lx_batch_unref)}, Batch)
    end
  end
end

-- The number of samples that all ranks have read.
function Loader:position()
  return tonumber(C.lx_loader_tell(self))
end

-- The state, for a checkpoint, as a string.
function Loader:save()
  local length = ffi.new 'size_t[1]'
  call(C.lx_loader_save, self, nil, 0, length)
  local text = ffi.new('char[?]', length[0] + 1)
  call(C.lx_loader_save, self, text, length[0] + 1, length)
  return ffi.string(text, length[0])
end

-- Moves to a saved state, which a loader with another world or batch size may have saved.
function Loader:restore(state)
  call(C.lx_loader_restore, self, state)
end

ffi.metatype('lx_source', Source)
ffi.metatype('lx_loader', Loader)

local loaderx = {}

-- Opens a dataset, or an .npy file.
function loaderx.source(path)
  local source = ffi.new 'lx_source *[1]'
  call(C.lx_source_open, path, nil, source)
  return ffi.gc(source[0], C.lx_source_unref)
end

-- Opens a loader, which keeps the source open. Options: batch_size; shuffle, the seed; rank and
-- world; readers, the number of threads that read, where 0 reads in the calling thread.
function loaderx.loader(source, options)
  local c = C.lx_loader_options_new()
  assert(c ~= nil, 'out of memory')
  ffi.gc(c, C.lx_loader_options_free)
  local o = options or {}
  if o.batch_size then call(C.lx_loader_options_set_batch_size, c, o.batch_size) end
  if o.shuffle then call(C.lx_loader_options_set_shuffle, c, o.shuffle) end
  if o.world then call(C.lx_loader_options_set_rank, c, o.rank or 0, o.world) end
  if o.readers then call(C.lx_loader_options_set_reader_count, c, o.readers) end
  local loader = ffi.new 'lx_loader *[1]'
  call(C.lx_loader_open, source, c, loader)
  return ffi.gc(loader[0], C.lx_loader_close)
end

return loaderx
