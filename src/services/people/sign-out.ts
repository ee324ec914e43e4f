import type { SystemWork } from '../../work/unit-of-work.ts';
import { endConnectionsOfAccount } from '../auth/connections.ts';
import type { Revocation } from '../auth/tokens.ts';

/** What ended; `ended` is to be announced to running processes once it is committed. */
export interface SignedOut {
  sessions_ended: number;
  apps_ended: number;
  ended: Revocation[];
}

/**
 * Ends every browser session of an account, and with `apps` every connection of a client too, with all that the clients got by
 * them.
 */
export async function signOutEverywhere(
  work: SystemWork,
  account_id: string,
  { apps }: { apps: boolean },
): Promise<SignedOut> {
  const sessions_ended = await work.sessions.removeAllExcept(account_id, null);
  work.audit({ act: 'sessions.ended', account_id, detail: { sessions: sessions_ended, apps } });
  if (!apps) return { sessions_ended, apps_ended: 0, ended: [] };
  const { grants, ended } = await endConnectionsOfAccount(work, account_id);
  return { sessions_ended, apps_ended: grants, ended };
}
