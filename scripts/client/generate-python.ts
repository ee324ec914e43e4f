import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type OpenApi, renderPythonOperations } from './python-operations.ts';

const usage = `npm run generate:python [-- URL]: writes the operations of the Python client from the OpenAPI document of the running
service, by default at http://localhost:3000.
`;

/** Relative to the checkout. */
const target = 'packages/client-python/src/agent_messaging/_operations.py';

async function main(): Promise<number> {
  const [url = 'http://localhost:3000'] = process.argv.slice(2);
  if (url.startsWith('-')) {
    process.stdout.write(usage);
    return 0;
  }
  const response = await fetch(`${url}/v1/openapi.json`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  writeFileSync(resolve(target), renderPythonOperations((await response.json()) as OpenApi));
  process.stdout.write(`${target}\n`);
  return 0;
}

process.exit(
  await main().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    return 1;
  }),
);
