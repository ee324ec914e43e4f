import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface SourceFile {
  /** Relative to the root of the checkout. */
  path: string;
  text: string;
}

export interface ImportEdge {
  from: string;
  /** A path relative to the root of the checkout, or the name of a package. */
  to: string;
}

const root = join(import.meta.dirname, '../../..');

/** Every TypeScript and JavaScript file below these folders of the checkout. */
export function readSources(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort();
    const paths = names.filter((name) => /\.[mc]?[jt]sx?$/.test(name)).map((name) => join(folder, name));
    return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  });
}

/** Only comments that begin a line: a text may hold the same signs, as in `application/*+json`. */
const comments = /^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm;
const literal = /(?<!['"])\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g;
const computed = /\bimport\s*\(\s*(?!['"])/;

/** What a file imports: values, types, re-exports, side effects and lazy imports alike. */
export function importsOf({ path, text }: SourceFile): ImportEdge[] {
  const code = text.replace(comments, '');
  return [...code.matchAll(literal)].map(([, , name = '']) => ({
    from: path,
    to: name.startsWith('.') ? sourceOf(normalize(join(dirname(path), name))) : name,
  }));
}

/** Whether the file imports something whose name is known only when it runs. */
export function importsComputed({ text }: SourceFile): boolean {
  return computed.test(text.replace(comments, ''));
}

/** What the build makes of a source counts as the source. */
function sourceOf(path: string): string {
  return path.startsWith('dist/') ? path.slice('dist/'.length).replace(/\.js$/, '.ts') : path;
}

/** Folders of a package that are layers of their own: what runs on Node only, and what its users do not load. */
const packageFolders = new Set(['node', 'testing', 'cli', 'bridge', 'generated']);

/**
 * The layer of a file: `core/domain` for packages/core/src/domain/errors.ts, `packages/client` for packages/client/src/errors.ts, `packages/client/node` for
 * packages/client/src/node/main.ts, `services` for src/services/messages/send.ts, `transports/ws` for src/transports/ws/frames.ts, `start`
 * for src/api.ts, `config` for src/config.ts, `workers` for workers/run.ts.
 */
export function layerOf(path: string): string {
  const [top = '', next = '', ...rest] = path.split('/');
  if (top === 'packages') {
    if (next === 'core') return `${next}/${rest[1]}`;
    const [, folder = ''] = rest;
    return packageFolders.has(folder) ? `${top}/${next}/${folder}` : `${top}/${next}`;
  }
  if (top !== 'src') return top;
  if (next === 'transports') return `${next}/${rest[0]}`;
  if (rest.length > 0) return next;
  return next === 'config.ts' || next === 'setting-types.ts' ? 'config' : 'start';
}
