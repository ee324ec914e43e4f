import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { readServerSentEvents } from '../../../chaos/transports/server-sent-events.ts';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

test('a stream that is cut at its last event ends', async () => {
  let stream: ServerResponse | undefined;
  const server = createServer((_request, response) => {
    stream = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    stream.write('data: first\n\n');
  });
  const { url } = stopAfterTest(await listen(server));
  const cut = new AbortController();
  const seen: unknown[] = [];
  const onEvent = (fields: ReadonlyMap<string, string>) => {
    seen.push(fields.get('data'));
    // One packet holds the event and the end of the stream.
    if (seen.length === 1) stream?.end('data: last\n\n');
    else cut.abort();
  };
  await readServerSentEvents(url, {}, { signal: cut.signal, onEvent });
  expect(seen).toEqual(['first', 'last']);
});
