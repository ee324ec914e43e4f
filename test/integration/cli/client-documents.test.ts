import { describe, expect, test } from 'vitest';
import { checkClientDocuments } from '../../../src/cli/maintenance/client-document-check.ts';

describe('client metadata documents', () => {
  const accepted = { CLIENT_ID_METADATA_DOCUMENTS: true };

  test('can be fetched, or are not accepted', async () => {
    const fetched = checkClientDocuments(accepted, async () => new Response('{}'));
    expect(await fetched).toBe('fetched that of vscode.dev');
    const refused = { CLIENT_ID_METADATA_DOCUMENTS: false };
    const never = async () => Promise.reject(new Error('fetched'));
    expect(await checkClientDocuments(refused, never)).toBe('not accepted');
  });

  test('are a fault if there is no way out', async () => {
    const noWayOut = async () => Promise.reject(new TypeError('getaddrinfo EAI_AGAIN'));
    await expect(checkClientDocuments(accepted, noWayOut)).rejects.toThrow('cannot fetch');
    const proxy = async () => new Response('', { status: 403 });
    await expect(checkClientDocuments(accepted, proxy)).rejects.toThrow('returned 403');
  });
});
