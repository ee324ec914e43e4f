import { checkReceived } from '../asyncapi/check-received.ts';
import { type ResponseCheck, createResponseCheck, isDocumentedPath } from './response-check.ts';
import { mergeDocuments, type OpenApiDocument } from './document.ts';

const checks = new Map<string, Promise<ResponseCheck>>();

/** The document at this path of a service. */
export async function fetchServedDocument(
  origin: string,
  path: '/v1/openapi.json' | '/v1/openapi-long-paths.json',
): Promise<OpenApiDocument> {
  const response = await fetch(`${origin}${path}`);
  if (response.status !== 200) throw new Error(`${origin}${path} answers ${response.status}`);
  return (await response.json()) as OpenApiDocument;
}

/** Both documents of a service as one. */
export async function fetchMergedDocument(origin: string): Promise<OpenApiDocument> {
  const [short, long] = await Promise.all([
    fetchServedDocument(origin, '/v1/openapi.json'),
    fetchServedDocument(origin, '/v1/openapi-long-paths.json'),
  ]);
  return mergeDocuments(short, long);
}

/**
 * Holds an answer to the document that the service serves. Every service of a test file runs the same code, so the first one
 * that is asked speaks for all, except of remote agents, which some do not have. Paths that are no part of the interface are passed over. Pages of events are held to the AsyncAPI
 * document too.
 * @throws {Error} that says what is not as described.
 */
export async function checkResponse(
  method: string,
  url: string,
  { status, headers }: Response,
  text: string,
): Promise<void> {
  const { origin, pathname, search } = new URL(url);
  if (!isDocumentedPath(pathname)) return;
  const speaker = pathname.startsWith('/v1/remote-agents') ? origin : 'all';
  const check = checks.get(speaker) ?? fetchMergedDocument(origin).then(createResponseCheck);
  checks.set(speaker, check);
  const known = await check.catch((error: unknown) => {
    checks.delete(speaker);
    throw error;
  });
  const operation = known.check({ method, path: pathname + search, status, headers, text });
  if (operation === 'list_events' && method === 'GET' && status === 200) {
    checkReceived('long_poll', JSON.parse(text));
  }
}
