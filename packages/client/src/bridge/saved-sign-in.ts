import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { OAuthClientInformationSchema, OAuthTokensSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import { withFileLock } from '../node/file-lock.ts';
import { readIfExists, replaceFile } from '../node/private-file.ts';

const signInSchema = z.object({
  /** URL of the MCP server. */
  address: z.string(),
  client: OAuthClientInformationSchema,
  tokens: OAuthTokensSchema,
});

export type SignIn = z.infer<typeof signInSchema>;

/** A saved sign-in of a person, for one service and profile. */
export interface SavedSignIn {
  path: string;
  /** Returns undefined if there is none or the file is damaged. */
  read(): Promise<SignIn | undefined>;
  write(signIn: SignIn): Promise<void>;
  /** Runs a task while no other bridge does, because a refresh token can be used once. */
  withLock<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T>;
}

/** Opens the saved sign-in for a service and profile in this folder; the file may not exist yet. */
export function openSavedSignIn(folder: string, address: URL, profile: string): SavedSignIn {
  const name = createHash('sha256').update(`${address.href}\n${profile}`).digest('hex').slice(0, 32);
  const path = join(folder, 'mcp', `${name}.json`);
  return {
    path,
    async read() {
      const { data } = signInSchema.safeParse(parseJson(await readIfExists(path)));
      return data?.address === address.href ? data : undefined;
    },
    write: (signIn) => replaceFile(path, `${JSON.stringify(signIn, null, 2)}\n`),
    withLock: (signal, run) => withFileLock(`${path}.lock`, signal, run),
  };
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // damaged: the person signs in again
  }
}
