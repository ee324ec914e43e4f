import { expect, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { refuse, startStubService, type StubAnswer } from './stub-service.ts';

const message: StubAnswer = { status: 201, body: { id: 'msg_1' } };
const token: StubAnswer = { status: 200, body: { access_token: 'second', expires_in: 900 } };

const program = (call: string, auth = '"first"', options = '') => `
import json, os, time
import agent_messaging as am

begun = time.monotonic()
client = am.Client(os.environ["URL"], ${auth}${options})
try:
    result = ${call}
except am.AgentMessagingError as error:
    result = [type(error).__name__, error.code, error.retry_after]
print(json.dumps({"result": result, "seconds": time.monotonic() - begun}))
`;
const send = 'client.messages.send("thd_1", content="Hello")';

describeUnless(missingPythonReason, 'a Python client that meets faults', () => {
  test('repeats a write with its key, also after a lost answer and a proxy that is not the service', async () => {
    const stub = await startStubService('cut', { status: 502, body: 'Bad gateway' }, message);
    const { result } = await runPython(program(send), { URL: stub.url });
    expect(result).toEqual({ id: 'msg_1' });
    expect(stub.requests).toHaveLength(3);
    const [{ key = '' } = {}] = stub.requests;
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    expect(stub.requests.map((request) => request.key)).toEqual([key, key, key]);
  });

  test('repeats no write without a key', async () => {
    const stub = await startStubService('cut');
    const { result } = await runPython(program('client.contacts.remove("bob.reader")'), { URL: stub.url });
    expect(result).toEqual(['ConnectionError', 'CONNECTION_FAILED', null]);
    expect(stub.requests).toHaveLength(1);
  });

  test('gives up after max_retries, and at once for a permanent error', async () => {
    const down = refuse(503, 'UNAVAILABLE', { 'Retry-After': '0' });
    const stub = await startStubService(down, down, down, down);
    const { result } = await runPython(program('client.agents.get_me()'), { URL: stub.url });
    expect(result).toEqual(['UnavailableError', 'UNAVAILABLE', 0]);
    expect(stub.requests).toHaveLength(3);

    const strict = await startStubService(refuse(403, 'FORBIDDEN'), message);
    const refused = await runPython(program('client.agents.get_me()'), { URL: strict.url });
    expect(refused.result).toEqual(['PermissionError', 'FORBIDDEN', null]);
    expect(strict.requests).toHaveLength(1);
  });

  test('waits as long as Retry-After says, but not longer than max_wait', async () => {
    const stub = await startStubService(refuse(429, 'RATE_LIMITED', { 'Retry-After': '1' }), message);
    const { result, seconds } = await runPython(program(send), { URL: stub.url });
    expect(result).toEqual({ id: 'msg_1' });
    expect(seconds).toBeGreaterThanOrEqual(1);

    const patient = await startStubService(refuse(429, 'RATE_LIMITED', { 'Retry-After': '3600' }), message);
    const refused = await runPython(program(send), { URL: patient.url });
    expect(refused.result).toEqual(['RateLimitError', 'RATE_LIMITED', 3600]);
    expect(patient.requests).toHaveLength(1);
  });

  test('renews a refused token once', async () => {
    const auth = 'am.ClientCredentials("id", "secret")';
    const ended = refuse(401, 'UNAUTHORIZED');
    const stub = await startStubService(token, ended, token, ended);
    const same = await runPython(program('client.agents.get_me()', auth), { URL: stub.url });
    expect(same.result).toEqual(['AuthenticationError', 'UNAUTHORIZED', null]);

    const first: StubAnswer = { status: 200, body: { access_token: 'first', expires_in: 900 } };
    const renewing = await startStubService(first, ended, token, message);
    const { result } = await runPython(program(send, auth), { URL: renewing.url });
    expect(result).toEqual({ id: 'msg_1' });
    const [, refused, , repeated] = renewing.requests;
    expect([refused?.authorization, repeated?.authorization]).toEqual(['Bearer first', 'Bearer second']);
    expect(repeated?.key).toBe(refused?.key);

    const fixed = await startStubService(ended, message);
    const failed = await runPython(program('client.agents.get_me()'), { URL: fixed.url });
    expect(failed.result).toEqual(['AuthenticationError', 'UNAUTHORIZED', null]);
  });

  test('requests a token once for many calls, and again before it ends', async () => {
    const auth = 'am.ClientCredentials("id", "secret", scopes="threads:read")';
    const brief: StubAnswer = { status: 200, body: { access_token: 'first', expires_in: 0 } };
    const agent: StubAnswer = { status: 200, body: { id: 'agt_1' } };
    const stub = await startStubService(token, agent, agent);
    const both = '[client.agents.get_me(), client.agents.get_me()]';
    await runPython(program(both, auth), { URL: stub.url });
    expect(stub.requests.map(({ url }) => url)).toEqual(['/token', '/v1/agents/me', '/v1/agents/me']);
    expect(stub.requests[0]).toMatchObject({
      authorization: `Basic ${Buffer.from('id:secret').toString('base64')}`,
      body: 'grant_type=client_credentials&scope=threads%3Aread',
    });

    const short = await startStubService(brief, agent, token, agent);
    await runPython(program(both, auth), { URL: short.url });
    expect(short.requests.map(({ url }) => url)).toEqual([
      '/token',
      '/v1/agents/me',
      '/token',
      '/v1/agents/me',
    ]);
  });

  test('names a wrong credential', async () => {
    const stub = await startStubService({ status: 401, body: { error: 'invalid_client' } });
    const auth = 'am.ClientCredentials("id", "wrong")';
    const { result } = await runPython(program('client.agents.get_me()', auth), { URL: stub.url });
    expect(result).toEqual(['AuthenticationError', 'invalid_client', null]);
  });

  test('ends a call that gets no answer', async () => {
    const stub = await startStubService({ status: 200, headers: { 'Content-Length': '10' } });
    const call = 'client.call("get_me", timeout=0.2, max_retries=0)';
    const { result } = await runPython(program(call), { URL: stub.url });
    expect(result).toEqual(['ConnectionError', expect.stringMatching(/TIMEOUT|CONNECTION_FAILED/), null]);
  });
});
