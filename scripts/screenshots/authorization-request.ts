import { z } from 'zod';

export interface ClientMetadata {
  client_name: string;
  redirect_uri: string;
}

const registered = z.looseObject({ client_id: z.string() });

/** Registers a client; returns the address where a person authorizes it for the tool server. */
export async function buildAuthorizationUrl(
  baseURL: string,
  { client_name, redirect_uri }: ClientMetadata,
): Promise<string> {
  const answer = await fetch(`${baseURL}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name, redirect_uris: [redirect_uri] }),
  });
  const { client_id } = registered.parse(await answer.json());
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    // The example of RFC 7636, appendix B: the token is never requested.
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: `${baseURL}/mcp`,
    state: 'a-picture',
  });
  return `${baseURL}/authorize?${query.toString()}`;
}
