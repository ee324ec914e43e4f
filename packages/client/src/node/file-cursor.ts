import type { CursorStore } from '../events/types.ts';
import { readIfExists, replaceFile } from './private-file.ts';

/** Keeps the position in a file, which is replaced as a whole. One program at a time may use the file. */
export function fileCursor(path: string): CursorStore {
  return {
    async load() {
      const text = (await readIfExists(path))?.trim();
      return text === '' ? undefined : text;
    },
    save: (cursor) => replaceFile(path, `${cursor}\n`),
  };
}
