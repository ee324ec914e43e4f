import type { Config } from '../../config.ts';
import { createPublicFetch, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';

/** A client metadata document that a common client uses. */
const sampleDocument = 'https://vscode.dev/oauth/client-metadata.json';

/**
 * Fetches a client metadata document as the authorization server does.
 * @throws if it cannot be fetched, although the service accepts such documents
 */
export async function checkClientDocuments(
  { CLIENT_ID_METADATA_DOCUMENTS: areAccepted }: Pick<Config, 'CLIENT_ID_METADATA_DOCUMENTS'>,
  fetchDocument: GuardedFetch = createPublicFetch({ timeoutMs: 5_000, maxBytes: 64 * 1_024 }),
): Promise<string> {
  if (!areAccepted) return 'not accepted';
  const { host } = new URL(sampleDocument);
  const { status } = await fetchDocument(sampleDocument).catch((cause: unknown) => {
    throw new Error(`cannot fetch the client metadata document of ${host}`, { cause });
  });
  if (status !== 200) throw new Error(`the client metadata document of ${host} returned ${status}`);
  return `fetched that of ${host}`;
}
