import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../../src/compose.ts';
import { createCredential } from '../../src/services/auth/credentials.ts';
import { allTestScopes } from '../support/service.ts';

/** A token of a new credential of an agent, as a program gets it at `url`. */
export async function signInWithCredential(
  { core, url }: { core: Core; url: string },
  { handle }: { handle: string },
  name?: string,
): Promise<{ client_id: string; token: string; expires_in: number }> {
  const { client_id, client_secret } = await core.unitOfWork.write(system, (work) =>
    createCredential(work, { handle, scopes: allTestScopes, ...(name !== undefined && { name }) }),
  );
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${core.config.PUBLIC_URL}/v1` }),
  });
  if (response.status !== 200) throw new Error(`no token: ${await response.text()}`);
  const { access_token: token, expires_in } = (await response.json()) as {
    access_token: string;
    expires_in: number;
  };
  return { client_id, token, expires_in };
}
