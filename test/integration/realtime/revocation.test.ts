import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';

const service = useSharedService();

/** Revokes tokens only in the database, without a bus message. */
async function endSilently(tokens: readonly string[]): Promise<void> {
  const hashes = tokens.map((token) => hash('sha256', token, 'buffer'));
  await service.sql('delete from access_tokens where token_hash = any($1::bytea[])', [hashes]);
}

function authorized(token: string): RequestInit {
  return { headers: { Authorization: `Bearer ${token}`, Accept: 'application/json, text/event-stream' } };
}

test('a revocation without a bus message still ends sockets, SSE streams and long polls', async () => {
  const { handle, token } = await service.agent();
  const [mcp, other] = [await service.token(handle, { audience: 'mcp' }), await service.token(handle)];
  const socket = await connectWebSocket(service.url, { token });
  const stays = await connectWebSocket(service.url, { token: other });
  const sse = await fetch(`${service.url}/mcp`, authorized(mcp));
  expect(sse.status).toBe(200);
  const poll = fetch(`${service.api}/events?wait=30`, authorized(token));

  await endSilently([token, mcp]);
  expect(await socket.closed).toMatchObject({ code: 1008 });
  await sse.text();
  expect((await poll).status).toBe(401);

  stays.send({ type: 'ping' });
  await stays.next(({ type }) => type === 'pong');
  await stays.close();
});

test('the stream of an agent that retired without a bus message ends', async () => {
  const { id, token } = await service.agent();
  const socket = await connectWebSocket(service.url, { token });
  await service.sql('update agents set retired_at = 1 where id = $1', [id]);
  expect(await socket.closed).toMatchObject({ code: 1008 });
});
