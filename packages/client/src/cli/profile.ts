import { join } from 'node:path';
import { configFolder } from '../node/config-folder.ts';
import { type Auth, type Client, createClient, readSignIn, storedSignIn } from '../node/main.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import type { CommandIo } from './io.ts';

/** Where the settings and sign-ins of a profile are. */
export interface Profile {
  profile: string;
  folder: string;
}

/** Returns the profile of `--profile` or the environment. @throws {CommandError} when it is no name */
export function selectProfile({ env }: CommandIo, given: string | undefined): Profile {
  const profile = given ?? (env['AMS_PROFILE'] || 'default');
  if (!/^[\w-]+$/.test(profile))
    throw new CommandError(`${profile}: a profile has letters, digits, - and _ only`, exitCodes.usage);
  return { profile, folder: join(configFolder(env, process.platform), 'profiles') };
}

/** The client of a profile. The environment comes first: a token, then a client credential, then the stored sign-in. */
export async function createProfileClient(io: CommandIo, selected: Profile): Promise<Client> {
  const { url, auth } = await findSignIn(io, selected);
  return createClient({ url, auth });
}

/** Returns the address of the service, and how to sign in there. @throws {CommandError} when the profile is not signed in */
export async function findSignIn(
  { env }: CommandIo,
  selected: Profile,
): Promise<{ url: string; auth: Auth }> {
  const stored = await readSignIn(selected);
  const url = env['AMS_URL'] || stored?.url;
  const { AMS_TOKEN: token } = env;
  const credentials = readCredentials(env);
  const auth = token || (credentials ?? (stored && storedSignIn(selected)));
  if (auth && url) return { url, auth };
  const message = auth
    ? 'AMS_URL is not set'
    : `the profile ${selected.profile} is not signed in; run: am login`;
  throw new CommandError(message, exitCodes.signIn);
}

/** The client credential of the environment, if there is one. */
export function readCredentials(
  env: CommandIo['env'],
): { clientId: string; clientSecret: string } | undefined {
  const { AMS_CLIENT_ID: clientId, AMS_CLIENT_SECRET: clientSecret } = env;
  return clientId && clientSecret ? { clientId, clientSecret } : undefined;
}
