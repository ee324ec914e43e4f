import { type AgentMessagingError, createError, type ErrorBody } from '../errors.ts';

/** Reads the error of a refused call. An answer of another form, for example of a proxy, gets a code of its own. */
export async function readError(response: Response): Promise<AgentMessagingError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parseErrorBody(text) ?? {
    code: 'UNEXPECTED_ANSWER',
    message: `The answer has status ${status} and is not of this service: ${text.slice(0, 200)}`,
  };
  const request_id = body.request_id ?? headers.get('x-request-id') ?? undefined;
  return createError(
    { ...body, ...(request_id !== undefined && { request_id }) },
    status,
    readRetryAfter(headers.get('retry-after')),
  );
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: ErrorBody | string };
    return typeof error === 'object' && typeof error.code === 'string' ? error : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/** Returns milliseconds. The header has seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
