/**
 * Returns a function that calls `build` once for each object, and returns that value again. A value must not be changed by its users. It is
 * kept as long as its object.
 */
export function cachePerObject<Key extends object, Value>(build: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const known = values.get(key) ?? { value: build(key) };
    values.set(key, known);
    return known.value;
  };
}
