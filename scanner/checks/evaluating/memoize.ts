/** `compute`, called once for each key: what thousands of objects share is judged, or fetched, once. By default the argument is the key. */
export function memoize<Argument, Value>(
  compute: (argument: Argument) => Value,
  keyOf: (argument: Argument) => unknown = (argument) => argument,
): (argument: Argument) => Value {
  const values = new Map<unknown, Value>();
  return (argument) => {
    const key = keyOf(argument);
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = compute(argument);
    values.set(key, value);
    return value;
  };
}
