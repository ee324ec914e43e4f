import { expect, test } from 'vitest';
import { z } from 'zod';
import { askStateless, type StatelessRequest } from '../../../clients/mcp/stateless-request.ts';
import { createApprovalFixtures } from '../approvals/setup.ts';
import { useMcpPair } from '../instance.ts';

const [first, second] = useMcpPair();

const { people, rows, requests } = createApprovalFixtures(() => first);

const inputRequired = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z.record(
    z.string(),
    z.object({ method: z.string(), params: z.record(z.string(), z.unknown()) }),
  ),
  requestState: z.string(),
});

const form = { elicitation: { form: {} } };
const approve = { action: 'accept', content: { approve: true } };
const deny = { action: 'accept', content: { approve: false } };

type Call = Partial<StatelessRequest> & { requestState?: unknown; inputResponses?: unknown };

/** One round of `request_contact`, at one of two processes. */
async function callTool(
  token: string,
  args: object,
  { requestState, inputResponses, ...request }: Call = {},
  at = first,
) {
  const params = {
    name: 'request_contact',
    arguments: args,
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
  };
  return askStateless(at.url, token, { method: 'tools/call', capabilities: form, ...request, params });
}

async function openQuestion(token: string, args: object, request: Call = {}) {
  const { result } = await callTool(token, args, request);
  const { inputRequests, requestState } = inputRequired.parse(result);
  const [[key, question] = ['', undefined], ...others] = Object.entries(inputRequests);
  expect(others).toEqual([]);
  return {
    key,
    question,
    requestState,
    answeredBy: (response: unknown) => ({ requestState, inputResponses: { [key]: response } }),
  };
}

test('an approval is asked for by the result, and given with the repeated call at another process', async () => {
  const { mine, stranger, token } = await people();
  const { key, question, answeredBy } = await openQuestion(token, { handle: stranger, message: 'May I?' });
  expect(question).toMatchObject({
    method: 'elicitation/create',
    params: { message: expect.stringContaining(`@${stranger}`), requestedSchema: { required: ['approve'] } },
  });
  expect(await rows(mine)).toMatchObject([{ state: 'pending', client_name: 'raw' }]);
  // The order of the fields is no matter of the client.
  const done = await callTool(token, { message: 'May I?', handle: stranger }, answeredBy(approve), second);
  expect(done.result).toMatchObject({
    resultType: 'complete',
    structuredContent: { status: 'pending', to: { canonical_handle: stranger } },
  });
  expect(key).toMatch(/^apr_/);
  expect([await requests(mine), await rows(mine)]).toMatchObject([
    1,
    [{ state: 'approved', used: true, decided_via: 'program' }],
  ]);
  const again = await callTool(token, { handle: stranger, message: 'May I?' }, answeredBy(approve));
  expect(again.result).toMatchObject({ structuredContent: { status: 'pending' } });
  expect(await requests(mine)).toBe(1);
});

test('a denial is final; an answer that decides nothing leaves the question open', async () => {
  const { mine, stranger, token } = await people();
  const args = { handle: stranger };
  const { answeredBy } = await openQuestion(token, args);
  for (const undecided of [
    { action: 'cancel' },
    { action: 'accept' },
    { action: 'accept', content: { approve: 'true' } },
  ]) {
    const { result } = await callTool(token, args, answeredBy(undecided));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('APPROVAL_REQUIRED') }],
    });
  }
  expect(await rows(mine)).toMatchObject([{ state: 'pending' }]);
  const denied = await callTool(token, args, answeredBy(deny));
  expect(denied.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('APPROVAL_DENIED') }],
  });
  const late = await callTool(token, args, answeredBy(approve));
  expect(late.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('APPROVAL_DENIED') }],
  });
  expect(await requests(mine)).toBe(0);
});

test('an answer without the state, with another key or of another form is asked for again', async () => {
  const { mine, stranger, token } = await people();
  const args = { handle: stranger };
  const { key, requestState } = await openQuestion(token, args);
  const attempts = [
    { inputResponses: { [key]: approve } },
    { requestState, inputResponses: { other: approve } },
    { requestState, inputResponses: { [key]: true } },
    { requestState, inputResponses: { [key]: { result: approve } } },
    { requestState, inputResponses: [approve] },
    { requestState, inputResponses: { __proto__: { [key]: approve } } },
    { requestState },
  ];
  for (const attempt of attempts) {
    const { inputRequests } = inputRequired.parse((await callTool(token, args, attempt)).result);
    expect(Object.keys(inputRequests)).toEqual([key]);
  }
  expect([await requests(mine), await rows(mine)]).toMatchObject([0, [{ state: 'pending' }]]);
});

test('a state counts for its agent, its operation and its input only', async () => {
  const [ada, bob] = [await people(), await people()];
  const args = { handle: ada.stranger };
  const { answeredBy, requestState } = await openQuestion(ada.token, args);
  const refused = { error: { code: -32_602, message: expect.stringContaining('requestState') } };
  const state = answeredBy(approve);
  expect(await callTool(bob.token, args, state)).toMatchObject(refused);
  expect(await callTool(ada.token, { handle: bob.stranger }, state)).toMatchObject(refused);
  expect(await callTool(ada.token, { ...args, message: 'More.' }, state)).toMatchObject(refused);
  for (const [method, params] of [
    ['tools/call', { name: 'remove_contact', arguments: args, ...state }],
    ['prompts/get', { name: 'catch_up', ...state }],
    ['resources/read', { uri: 'service://threads', ...state }],
  ] as const)
    expect(await askStateless(first.url, ada.token, { method, params, capabilities: form })).toMatchObject(
      refused,
    );
  const [start, last] = [requestState.slice(0, -1), requestState.at(-1)];
  for (const altered of [
    '',
    'x',
    7,
    `${requestState}x`,
    `${start}${last === 'A' ? 'B' : 'A'}`,
    requestState.slice(4),
    'A'.repeat(100_000),
  ])
    expect(
      await callTool(ada.token, args, { ...state, requestState: altered }),
      String(altered).slice(0, 20),
    ).toMatchObject(refused);
  expect([await requests(ada.mine), await requests(bob.mine)]).toEqual([0, 0]);
  expect(first.loggedErrors).toEqual([]);
});

test('a client without elicitation gets the address of the approval page', async () => {
  const { stranger, token } = await people();
  const { result } = await callTool(token, { handle: stranger }, { capabilities: {} });
  expect(result).toMatchObject({
    resultType: 'complete',
    isError: true,
    content: [{ text: expect.stringMatching(/APPROVAL_REQUIRED.*\/console\/approvals\/apr_/) }],
  });
});

test('a client that opens pages gets the page, and the outcome when the person has decided there', async () => {
  const { mine, stranger, token } = await people();
  const args = { handle: stranger };
  const url = { capabilities: { elicitation: { url: {} } } };
  const { key, question, answeredBy } = await openQuestion(token, args, url);
  expect(question?.params).toMatchObject({
    mode: 'url',
    url: `http://localhost:3000/console/approvals/${key}`,
  });
  const waiting = callTool(token, args, { ...url, ...answeredBy({ action: 'accept' }) });
  await first.decide(key, 'approved');
  expect((await waiting).result).toMatchObject({ structuredContent: { status: 'pending' } });
  expect(await requests(mine)).toBe(1);
});
