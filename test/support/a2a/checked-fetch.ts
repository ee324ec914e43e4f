import { parseSseStream } from '@a2a-js/sdk';
import { expectValidA2a } from './expect-valid.ts';
import { type A2aOperation, operations } from './operations.ts';
import type { A2aType } from './schemas.ts';

/**
 * A `fetch` for clients that are not ours, which checks every answer of both bindings against the definition of A2A. `settle` waits for the
 * checks of streams and returns the faults.
 */
export function createCheckedFetch(base: string) {
  const checks: Promise<string | undefined>[] = [];
  async function checkedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const text = await request.clone().text();
    const response = await fetch(request);
    const call = findCall(request.method, new URL(request.url).pathname, text);
    checks.push(
      check(response.clone(), call).then(
        () => undefined,
        (error: unknown) => `${request.method} ${request.url} ${text}: ${String(error)}`,
      ),
    );
    return response;
  }

  const { pathname } = new URL(base);
  function findCall(http: string, path: string, text: string): { type: A2aType; isJsonRpc: boolean } {
    const all = Object.values(operations);
    const place = path.slice(pathname.length);
    if (place === '/.well-known/agent-card.json') return { type: 'AgentCard', isJsonRpc: false };
    const isJsonRpc = place === '' || place === '/';
    const isCalled = isJsonRpc
      ? ({ method }: A2aOperation) => method === (JSON.parse(text) as { method: string }).method
      : (one: A2aOperation) => isAt(one, http, place);
    const found = all.find(isCalled);
    if (!found) throw new Error(`no operation: ${http} ${path} ${text}`);
    return { type: found.answer, isJsonRpc };
  }
  return {
    fetch: checkedFetch,
    settle: async (): Promise<string[]> => (await Promise.all(checks)).filter((fault) => fault !== undefined),
  };
}

/** A subscription has a path for two methods. */
function isAt({ http, path }: A2aOperation, method: string, place: string): boolean {
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`);
  return pattern.test(place) && (http === method || path.endsWith(':subscribe'));
}

async function check(
  response: Response,
  { type, isJsonRpc }: { type: A2aType; isJsonRpc: boolean },
): Promise<void> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text();
    checkJson(text === '' ? {} : JSON.parse(text), type, isJsonRpc);
    return;
  }
  try {
    for await (const { data } of parseSseStream(response)) checkJson(JSON.parse(data), type, isJsonRpc);
  } catch (error) {
    // A client that leaves its stream is no fault.
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  }
}

function checkJson(json: Record<string, unknown>, type: A2aType, isJsonRpc: boolean): void {
  const { result, error } = isJsonRpc ? json : { result: json, error: json['error'] };
  if (error === undefined) expectValidA2a(type, result ?? {});
  else if (isJsonRpc) expectValidA2a('JsonRpcError', error);
  else expectValidA2a('HttpError', json);
}
