import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

const ends = ['stop', 'close', 'release', 'remove', 'drop', 'end'] as const;

/** Stops something with its own method if it has one. */
async function end(value: object | undefined): Promise<void> {
  const methods = (value ?? {}) as Partial<Record<string, () => unknown>>;
  const name = ends.find((each) => methods[each] !== undefined);
  if (name !== undefined) await methods[name]?.();
}

/** Stops what a test has started after it, as `use` does for a file. Returns it. */
export function stopAfterTest<Value extends object>(value: Value): Value {
  onTestFinished(() => end(value));
  return value;
}

/** A folder that is removed after the test. */
export async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts something before the tests of a file or a `describe`, and stops it after them with its own method if it has one. Tests and later
 * hooks can use the returned object; its properties are read when they are used.
 */
export function use<Value extends object>(start: () => Promise<Value>, timeoutMs?: number): Value {
  let value: Value | undefined;
  beforeAll(async () => {
    value = await start();
  }, timeoutMs);
  afterAll(() => end(value));
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
