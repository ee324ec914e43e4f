import { afterAll, beforeAll } from 'vitest';

const ends = ['stop', 'close', 'release', 'remove', 'drop'] as const;

/**
 * Starts something before the tests of a file or a `describe`, and stops it after them with its own method if it has one. Tests and later
 * hooks can use the returned object; its properties are read when they are used.
 */
export function use<Value extends object>(start: () => Promise<Value>, timeoutMs?: number): Value {
  let value: Value | undefined;
  beforeAll(async () => {
    value = await start();
  }, timeoutMs);
  afterAll(async () => {
    const methods = (value ?? {}) as Partial<Record<string, () => unknown>>;
    const end = ends.find((name) => methods[name] !== undefined);
    if (end !== undefined) await methods[end]?.();
  });
  function started(): Value {
    if (!value) throw new Error('it is used before its start');
    return value;
  }
  return new Proxy({} as Value, {
    get: (_, key): unknown => Reflect.get(started(), key),
    // For a spread.
    ownKeys: () => Reflect.ownKeys(started()),
    getOwnPropertyDescriptor: (_, key) => {
      const property = Reflect.getOwnPropertyDescriptor(started(), key);
      return property && { ...property, configurable: true };
    },
  });
}
