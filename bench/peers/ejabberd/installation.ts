import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../../src/embedded/find-program.ts';

/** Where the parts of an installed ejabberd are. */
export interface Installation {
  /** The Erlang program. */
  erl: string;
  /** The folder of the Erlang libraries of the package. */
  libraries: string;
  /** The SQL of its tables in PostgreSQL. */
  schema: string;
  version: string;
}

export const installCommand = 'apt-get install ejabberd erlang-p1-pgsql';

/** Folders of Debian's packages, below the root folder. */
const folders = {
  libraries: 'usr/lib',
  schema: 'usr/share/ejabberd/sql/pg.sql',
  erlang: 'usr/lib/erlang/lib',
};

/**
 * Finds ejabberd as Debian installs it.
 * @param root the root folder of the system
 * @param path folders of programs, as in PATH
 * @returns null when it, or its driver for PostgreSQL, is not installed
 */
export function findInstallation(root = '/', path?: string): Installation | null {
  const erl = findProgram(['erl'], path);
  const schema = join(root, folders.schema);
  const hasDriver = listFolder(join(root, folders.erlang)).some((name) => name.startsWith('p1_pgsql-'));
  const packages = listFolder(join(root, folders.libraries)).flatMap((architecture) => {
    const libraries = join(root, folders.libraries, architecture);
    const names = listFolder(libraries).filter((name) => /^ejabberd-\d/.test(name));
    return names
      .filter((name) => existsSync(join(libraries, name, 'ebin')))
      .map((name) => ({ libraries, version: name.replace(/^ejabberd-/, '') }));
  });
  const [found] = packages;
  return erl !== null && found && hasDriver && existsSync(schema) ? { erl, schema, ...found } : null;
}

function listFolder(folder: string): string[] {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
