/** What a client answers to a request of ours (JSON-RPC 2.0, section 5). */
export interface ClientResponse {
  result?: Record<string, unknown> | undefined;
  error?: { code: number; message: string } | undefined;
}

/** What goes from one process to another, in bytes: the bus takes 4 KB, with who answers and to what. */
const maxResponseBytes = 3_500;
const maxContentBytes = 3_000;
const maxMessageLength = 200;

/**
 * An answer short enough to travel. What is asked here is answered in a few bytes, so of a longer one only that is kept: the choice
 * of the person, and the shortest of the plain values in the form. The same at every process, also at the one that asked.
 */
export function shortenResponse(given: ClientResponse): ClientResponse {
  if (sizeOf(given) <= maxResponseBytes) return given;
  if (given.error) {
    const { code, message } = given.error;
    return { error: { code, message: message.slice(0, maxMessageLength).toWellFormed() } };
  }
  const { action, content } = given.result ?? {};
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
  let room = maxContentBytes;
  for (const { entry, bytes } of sized) {
    room -= bytes;
    if (room < 0) break;
    kept.push(entry);
  }
  return Object.fromEntries(kept);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
