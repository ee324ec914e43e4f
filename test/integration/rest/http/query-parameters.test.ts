import { expect, test } from 'vitest';
import { requestRest } from '../../../clients/rest.ts';
import { fetchMergedDocument } from '../../../support/openapi/served-document.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

async function get(path: string) {
  const { token } = await service.agent();
  const { status, body } = await service.get({ token }, path);
  return { status, ...body.error };
}

test.each([
  ['/threads?limit[]=5', 'limit[]', 'did you mean limit?'],
  ['/threads?LIMIT=1', 'LIMIT', 'did you mean limit?'],
  ['/threads?stauts=archived', 'stauts', 'did you mean status?'],
  [
    '/threads?limit=5&foo=1',
    'foo',
    'Query parameters: status, with_handle, updated_since, unread, limit, cursor.',
  ],
  ['/messages/search?q=x&query=y', 'query', 'is unknown'],
  ['/events?timeout=3', 'timeout', 'Query parameters: cursor, limit, wait, watch.'],
  ['/agents/me?x=1', 'x', 'is unknown. The address takes no query parameters.'],
  ['/agents/me?__proto__=1', '__proto__', 'is unknown'],
  ['/meta?x=1', 'x', 'is unknown'],
  ['/openapi.json?x=1', 'x', 'is unknown'],
  ['/asyncapi.json?v=2', 'v', 'is unknown'],
])('%s is 400 and says which parameter is unknown', async (path, field, message) => {
  const { status, code, details } = await get(path);
  expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  expect(details).toEqual([{ field, message: expect.stringContaining(message) }]);
});

test('names of the path are not in the list, and those of the body are sent in the body', async () => {
  const { token, handle } = await service.agent();
  const other = await service.agent();
  const thread = await service.thread({ token }, other);
  const url = `${service.api}/threads/${thread}/messages`;
  const listed = await requestRest('GET', `${url}?order=asc&thread_id=${thread}`, { token });
  expect(listed.body.error.message).toBe(
    'thread_id: is unknown. Query parameters: limit, cursor, order, after_sequence.',
  );
  const sent = await requestRest('POST', `${url}?content=x`, { token, body: { content: 'x' } });
  expect([sent.status, sent.body.error.message]).toEqual([
    400,
    'content: is a field of the body; send it there',
  ]);
  const [owner, name] = handle.split('.');
  const long = await service.get({ token }, `/agents/${owner}/${name}/threads?state=closed`);
  expect([long.status, long.body.error.details[0].field]).toEqual([400, 'state']);
});

test('every operation refuses an unknown parameter, and many of them are named in one short error', async () => {
  const { token } = await service.agent();
  const { paths } = await fetchMergedDocument(service.url);
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods).filter((name) => name !== 'parameters')) {
      const url = `${service.api}${path.replaceAll(/\{\w+\}/g, 'x')}?unknown_parameter=1`;
      const answer = await requestRest(method.toUpperCase(), url, {
        token,
        ...(method !== 'get' && { body: {} }),
      });
      const isOther = answer.status === 403 && path.includes('{owner}');
      expect([method, path, isOther || answer.status]).toEqual([method, path, isOther || 400]);
    }
  }
  const many = Array.from({ length: 1_500 }, (_, index) => `p${index}=1`).join('&');
  const { status, details, message } = await get(`/threads?${many}`);
  expect([status, details.length]).toEqual([400, 20]);
  expect(message.length).toBeLessThan(4_000);
});
