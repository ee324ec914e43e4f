import { expect, test } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { type Scope, scopes, sufficientScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { createTools } from '../../../src/transports/mcp/tools/tools.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

/** The operations that were dispatched. */
const dispatched: string[] = [];
const seen = new DomainError('FORBIDDEN', 'seen');
const tools = [...createTools(catalogue)].flatMap(([name, { operation }]) =>
  operation.scope === 'any'
    ? []
    : [{ name, operation: operation.name, scope: operation.scope, reads: operation.reply !== undefined }],
);

const instance = useMcpInstance({
  async execute({ operation }) {
    dispatched.push(operation.name);
    throw seen;
  },
});

test.each(tools)('$name needs $scope: refused before dispatch', async ({ name, operation, scope, reads }) => {
  const enough = sufficientScopes(scope);
  const [needed] = enough;
  const others: Scope[] = scopes.filter((one) => !enough.includes(one));
  const token = await instance.token('matrix.agent', { scopes: others });
  const params = { name, arguments: { no_such: 'field' } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answer = await postRawMessage(instance.url, token, call);
  expect([answer.status, answer.json]).toMatchObject([403, { error: { code: 'INSUFFICIENT_SCOPE' } }]);
  expect(answer.headers.get('www-authenticate')).toContain(`error="insufficient_scope", scope="${needed}"`);
  expect(dispatched).toEqual([]);

  // With the scope the same call gets there.
  for (const one of enough) {
    const good = await instance.token('matrix.agent', {
      scopes: reads ? [one, 'threads:read'] : [one],
    });
    expect((await callToolRaw(instance.url, good, name, params.arguments)).value).toMatchObject({
      error: { code: 'FORBIDDEN' },
    });
    expect(dispatched.splice(0)).toEqual([operation]);
  }
});

/** Good with every valid token: they are about the caller itself. */
const forEverybody = ['whoami'];
/** Refused likewise to a token that may follow no events: no single scope says so. */
const forFollowers = ['acknowledge_events', 'wait_for_events'];

test('every tool that is shown has its place in this matrix', async () => {
  const token = await instance.token('matrix.reader');
  const { tools: shown } = Object(
    readRpcResult(await postRawMessage(instance.url, token, { jsonrpc: '2.0', id: 1, method: 'tools/list' }))
      .result,
  );
  const names: string[] = shown.map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toEqual(
    [...tools.map(({ name }) => name), ...forEverybody, ...forFollowers].toSorted(),
  );
});

test.each(forFollowers)('%s is refused before dispatch to who may follow nothing', async (name) => {
  const token = await instance.token('matrix.writer', { scopes: ['threads:write', 'contacts:write'] });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  const answer = await postRawMessage(instance.url, token, call);
  expect([answer.status, answer.json]).toMatchObject([403, { error: { code: 'INSUFFICIENT_SCOPE' } }]);
  expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
  expect(dispatched).toEqual([]);
});
