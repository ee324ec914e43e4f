import { catalogue } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/define.ts';

/** The table of tools in docs/mcp.md. Tools with the same scopes share a row. */
export function renderToolTable(): string {
  const rows = new Map<string, string[]>();
  for (const operation of catalogue) {
    const { name, tool } = operation;
    const scopes = describeScopes(operation);
    if (tool) rows.set(scopes, [...(rows.get(scopes) ?? []), code(tool.name ?? name)]);
  }
  // Tools that are no operations.
  rows.set('any scope that shows events', ['wait_for_events', 'acknowledge_events'].map(code));
  const lines = Array.from(rows, ([scopes, tools]) => `| ${tools.join(', ')} | ${scopes} |`);
  return ['| Tools | Scope |', '|---|---|', ...lines].join('\n');
}

function describeScopes({ scope, reply }: Operation): string {
  if (scope === 'any') return 'any';
  const scopes = [scope].flat().map(code).join(' or ');
  return reply && scope !== 'threads:read' ? `${scopes} and ${code('threads:read')}` : scopes;
}

const code = (text: string): string => `\`${text}\``;
