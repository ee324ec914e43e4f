import { aliases } from '../../src/operations/aliases.ts';
import { catalogue } from '../../src/operations/catalogue.ts';

/** Operations that the fake service of the client package does not have; docs/testing.md lists them. */
export const operationsNotFaked: ReadonlySet<string> = new Set(
  catalogue.filter(({ name, rest }) => rest && isNotFaked(name, rest.path)).map(({ name }) => name),
);

function isNotFaked(name: string, path: string): boolean {
  return (
    /conversation|managed|directory|delete_agent/.test(name) ||
    /^\/(?:waits|usage|audit|remote-agents)/.test(path)
  );
}

/** The operations that the fake service has. */
export const fakedOperations = [...catalogue, ...aliases].filter(
  ({ name, rest }) => rest && !operationsNotFaked.has(name),
);

/** What the fake service takes from the catalogue: routes and scopes. Its other rules are those of the core. */
export function buildFakeContract(): object {
  const operations = fakedOperations.map(({ name, scope, kind, rest, reply }) => {
    const { method, path, forms, status, idempotency, upload } = rest ?? {};
    return [
      name,
      { method, path, status, forms, idempotency, upload, scope, kind, waits: reply && true },
    ] as const;
  });
  return JSON.parse(JSON.stringify({ operations: Object.fromEntries(operations) })) as object;
}
