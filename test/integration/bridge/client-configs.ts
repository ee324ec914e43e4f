import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

export const root = resolve(import.meta.dirname, '../../..');

const server = z.union([
  z.strictObject({ type: z.literal('http').optional(), url: z.url() }),
  z.strictObject({ httpUrl: z.url() }).transform(({ httpUrl: url }) => ({ url })),
  z.strictObject({ serverUrl: z.url() }).transform(({ serverUrl: url }) => ({ url })),
  z.strictObject({
    type: z.literal('stdio').optional(),
    command: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()).optional(),
  }),
]);
const servers = z.strictObject({ messages: server });
const clientConfigFile = z.union([
  z.strictObject({ mcpServers: servers }).transform(({ mcpServers }) => mcpServers.messages),
  z.strictObject({ servers }).transform(({ servers: { messages } }) => messages),
  z.strictObject({ mcp_servers: servers }).transform(({ mcp_servers }) => mcp_servers.messages),
]);

export type ClientConfig = z.infer<typeof clientConfigFile>;

/** The client configurations of docs/mcp.md. @throws if a block is not one that a client understands. */
export function readClientConfigs(): ClientConfig[] {
  const [page = ''] = readFileSync(resolve(root, 'docs/mcp.md'), 'utf8').split('\n## Revisions\n');
  const blocks = [...page.matchAll(/```(json|toml)\n([^]*?)```/g)];
  return blocks.map(([, language, text = '']) =>
    clientConfigFile.parse(language === 'json' ? JSON.parse(text) : parseToml(text)),
  );
}

/** Parses a subset of TOML: one table, and values that are written as in JSON. */
function parseToml(text: string): unknown {
  const [head = '', ...lines] = text.trim().split('\n');
  const [, table, name] = /^\[(\w+)\.(\w+)\]$/.exec(head) ?? [];
  const values = lines.map((line) => {
    const [, key, value = ''] = /^(\w+) = (.+)$/.exec(line) ?? [];
    return [key, JSON.parse(value)];
  });
  return { [String(table)]: { [String(name)]: Object.fromEntries(values) } };
}
