import type { Core } from '../../compose.ts';
import { describeFailure } from '../../platform/outbound/failures.ts';
import { RequestFailed } from '../../platform/outbound/guarded-fetch.ts';

const limits = { timeoutMs: 5_000, maxBytes: 64 * 1_024 };
const maxHosts = 20;
/** Hosts that the result names. */
const maxNamed = 3;

/**
 * Connects to the hosts of the agents of other systems as a worker does, and to this service as such a system would. A host that is away is a
 * problem of its owner.
 * @throws if no host can be reached
 */
export async function checkRemoteAgents({
  config,
  db,
  remoteClient,
}: Pick<Core, 'config' | 'db' | 'remoteClient'>): Promise<string> {
  if (!config.REMOTE_AGENTS) return 'not allowed';
  const addresses = await db.remoteAgents.listAddresses();
  const origins = [...new Set(addresses.map((address) => new URL(address).origin))].slice(0, maxHosts);
  if (origins.length === 0) return 'none';
  const connect = remoteClient.createFetch(limits);

  /** Why an address does not answer; undefined if it does, with any status. */
  async function findProblem(url: string): Promise<string | undefined> {
    const problem = remoteClient.checkUrl(url);
    if (problem !== undefined) return problem;
    try {
      await connect(url, { method: 'HEAD' });
      return undefined;
    } catch (error) {
      return error instanceof RequestFailed ? error.message : describeFailure(error);
    }
  }
  const problems = await Promise.all(
    origins.map(async (origin) => ({ origin, problem: await findProblem(origin) })),
  );
  const away = problems.flatMap(({ origin, problem }) =>
    problem === undefined ? [] : `${new URL(origin).host}: ${problem}`,
  );
  const named = away.slice(0, maxNamed).join('; ');
  if (away.length === origins.length) throw new Error(`no host can be reached (${named})`);
  const reached = `${origins.length - away.length} of ${origins.length} hosts reached`;
  const callback = await findProblem(`${config.PUBLIC_URL}/livez`);
  return [
    away.length === 0 ? reached : `${reached} (${named})`,
    callback === undefined
      ? `they can call back at ${config.PUBLIC_URL}`
      : `${config.PUBLIC_URL} is not reached from there (${callback}), so answers are polled`,
  ].join('; ');
}
