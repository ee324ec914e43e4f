import { factories } from './factories.ts';
import type { Queryable } from './queryable.ts';
import { watchRaisedVersions } from './relation-versions.ts';

/** Every repository over the pool or over one transaction, by its name. */
export type Repositories = {
  readonly [Name in keyof typeof factories]: ReturnType<(typeof factories)[Name]>;
};

/**
 * Creates the repositories. Each is built on first use: most transactions use three or four.
 * @param onRaised called for each agent whose relation version the commit must raise; only in a transaction
 */
export function createRepositories(
  db: Queryable,
  onRaised: ((agentId: string) => void) | null = null,
): Repositories {
  return Object.create(firstUses, {
    [queryable]: { value: watchRaisedVersions(db, onRaised) },
  }) as Repositories;
}

const queryable = Symbol('queryable');

/** Builds a repository when it is read first, and keeps it on the object. */
const firstUses = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(factories).map(([name, create]) => [
      name,
      {
        get(this: { [queryable]: Queryable }) {
          const value = create(this[queryable]);
          Object.defineProperty(this, name, { value });
          return value;
        },
      },
    ]),
  ),
);
