/** A client's response to a server request (JSON-RPC 2.0, section 5). */
export interface ClientResponse {
  result?: Record<string, unknown> | undefined;
  error?: { code: number; message: string } | undefined;
}

/** Maximum size of a routed response, in bytes. The bus takes 4 KB, including the session and request id. */
const maxResponseBytes = 3_500;
const maxContentBytes = 3_000;
const maxMessageLength = 200;

/**
 * Shortens a response to fit into a bus message. Expected responses are a few bytes; of a longer one only the action and the
 * shortest plain form values remain. Every process does the same, including the one that sent the request.
 */
export function shortenResponse(response: ClientResponse): ClientResponse {
  if (sizeOf(response) <= maxResponseBytes) return response;
  if (response.error) {
    const { code, message } = response.error;
    return { error: { code, message: message.slice(0, maxMessageLength).toWellFormed() } };
  }
  const { action, content } = response.result ?? {};
  const choice = typeof action === 'string' && action.length <= maxMessageLength && { action };
  return { result: { ...choice, content: shortestValues(content) } };
}

function shortestValues(content: unknown): Record<string, unknown> {
  const values: [string, unknown][] =
    typeof content === 'object' && content !== null ? Object.entries(content) : [];
  const sized = values
    .filter(([, value]) => typeof value !== 'object')
    .map((entry) => ({ entry, bytes: sizeOf(entry) }))
    .toSorted((a, b) => a.bytes - b.bytes);
  const kept: [string, unknown][] = [];
  let remaining = maxContentBytes;
  for (const { entry, bytes } of sized) {
    remaining -= bytes;
    if (remaining < 0) break;
    kept.push(entry);
  }
  return Object.fromEntries(kept);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
