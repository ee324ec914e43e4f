import { disabledIntake } from '../../support/stubs.ts';
import { createBrowserSessions } from '../../../src/transports/console/browser-sessions.ts';
import type { ConsoleRoute } from '../../../src/transports/console/route.ts';
import { consoleRoutes } from '../../../src/transports/console/routes.ts';
import { createExecute } from '../../../src/operations/execute/execute.ts';
import type { TestService } from '../../support/service.ts';

/** Every path of the console that accepts this method, with `:name` for parameters. */
export function listConsolePaths({ core }: TestService, wanted: ConsoleRoute['method']): string[] {
  const { unitOfWork } = core;
  const refuse = () => Promise.reject(new Error('not implemented'));
  const provider = { start: refuse, finish: refuse };
  const limits = { consume: () => Promise.resolve() };
  const routes = consoleRoutes({
    unitOfWork,
    limits,
    execute: createExecute(unitOfWork, limits, disabledIntake),
    catalogue: [],
    publishRevocations: () => Promise.resolve(),
    requests: { find: refuse, approve: refuse, deny: refuse },
    external: core.config.OIDC_ISSUER === undefined ? undefined : { name: 'ID', provider },
    sessions: createBrowserSessions(unitOfWork),
    addresses: core.addresses,
    settings: { public_url: core.config.PUBLIC_URL, signup: 'open', export_days: 7 },
  });
  return routes.filter(({ method }) => method === wanted).map(({ path }) => path);
}
