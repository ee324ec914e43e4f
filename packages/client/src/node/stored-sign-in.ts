import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AuthenticationError } from '../errors.ts';
import { requestToken } from '../sign-in/request-token.ts';
import type { TokenSource } from '../sign-in/types.ts';
import { configFolder } from './config-folder.ts';
import { withFileLock } from './file-lock.ts';
import { readIfExists, replaceFile } from './private-file.ts';

/** What the command line stores when an agent signs in. */
export interface StoredSignIn {
  /** The address of the service. */
  url: string;
  client_id: string;
  /** Of a program. */
  client_secret?: string;
  /** Of a person. It is replaced at each use. */
  refresh_token?: string;
  access_token?: string;
  /** When the access token ends, in milliseconds since the Unix epoch. */
  expires_at?: number;
}

export interface StoredSignInOptions {
  /** Default: AMS_PROFILE, or default. */
  profile?: string;
  /** Default: profiles in AMS_CONFIG_DIR, or in ams in the folder for settings of the platform, for example ~/.config. */
  folder?: string;
}

/** A token is renewed this long before its end. */
const renewBeforeMs = 60_000;

/** How long to wait while another program renews, writes or removes the sign-in. */
const lockTimeoutMs = 60_000;
/** Shorter than the wait for the lock, which is held meanwhile. */
const tokenTimeoutMs = 30_000;

/** Returns the file of a profile. */
export function signInPath({ profile, folder }: StoredSignInOptions = {}): string {
  const name = profile ?? (process.env['AMS_PROFILE'] || 'default');
  if (!/^[\w-]+$/.test(name)) throw new TypeError(`${name} is no name of a profile`);
  const profiles = folder ?? join(configFolder(process.env, process.platform), 'profiles');
  return join(profiles, `${name}.json`);
}

/** Reads the sign-in of a profile; undefined if there is none. */
export async function readSignIn(options: StoredSignInOptions = {}): Promise<StoredSignIn | undefined> {
  const text = await readIfExists(signInPath(options));
  return text === undefined ? undefined : (JSON.parse(text) as StoredSignIn);
}

/** Stores the sign-in of a profile in a file that only its owner can read. A renewal of the previous sign-in ends first. */
export async function writeSignIn(signIn: StoredSignIn, options: StoredSignInOptions = {}): Promise<void> {
  await withSignInLock(options, () => replaceSignIn(signIn, options));
}

/** Removes the sign-in of a profile, after a renewal that runs. Returns it; undefined if there was none. */
export async function removeSignIn(options: StoredSignInOptions = {}): Promise<StoredSignIn | undefined> {
  return withSignInLock(options, async () => {
    const stored = await readSignIn(options);
    await rm(signInPath(options), { force: true });
    return stored;
  });
}

/** Excludes other programs of this user: a refresh token is for one use. */
function withSignInLock<T>(options: StoredSignInOptions, run: () => Promise<T>): Promise<T> {
  return withFileLock(`${signInPath(options)}.lock`, AbortSignal.timeout(lockTimeoutMs), run);
}

async function replaceSignIn(signIn: StoredSignIn, options: StoredSignInOptions): Promise<void> {
  await replaceFile(signInPath(options), `${JSON.stringify(signIn, null, 2)}\n`);
}

/** Signs in as the command line did: use it as `auth`. When the token ends, it reads the file again, or stores the next token. */
export function storedSignIn(options: StoredSignInOptions = {}): TokenSource {
  let current: StoredSignIn | undefined;
  let flight: Promise<string> | undefined;

  const isGood = (signIn: StoredSignIn | undefined, refused: string | undefined): signIn is StoredSignIn =>
    signIn?.access_token !== undefined &&
    signIn.access_token !== refused &&
    Date.now() < (signIn.expires_at ?? Infinity) - renewBeforeMs;

  async function renew(refused: string | undefined): Promise<string> {
    return withSignInLock(options, async () => {
      // Another program may have renewed it.
      const stored = await readSignIn(options);
      current = isGood(stored, refused) ? stored : await refresh(stored);
      return current.access_token ?? '';
    });
  }

  async function refresh(stored: StoredSignIn | undefined): Promise<StoredSignIn> {
    if (!stored?.client_secret && !stored?.refresh_token) throw signedOut(options);
    const { url, client_id, client_secret, refresh_token } = stored;
    const form = {
      client_id,
      ...(client_secret !== undefined && { client_secret }),
      ...(refresh_token === undefined
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'refresh_token', refresh_token }),
    };
    const { access_token, expires_in, ...answer } = await requestToken(fetch, url, form, tokenTimeoutMs);
    const next = { ...stored, ...answer, access_token, expires_at: Date.now() + expires_in * 1_000 };
    await replaceSignIn(next, options);
    return next;
  }

  return async (refused) => {
    if (isGood(current, refused)) return current.access_token ?? '';
    flight ??= renew(refused).finally(() => {
      flight = undefined;
    });
    return flight;
  };
}

function signedOut(options: StoredSignInOptions): AuthenticationError {
  return new AuthenticationError({
    code: 'SIGN_IN_FAILED',
    message: `${signInPath(options)}: there is no sign-in, or it cannot be renewed. Sign in with the command line.`,
  });
}
