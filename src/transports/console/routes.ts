import { externalAccountsPage } from './pages/people/external-accounts.tsx';
import { externalSignInRoutes } from './pages/people/external-sign-in.tsx';
import { remotePath } from './pages/remote/fields.tsx';
import { pages } from './pages.ts';
import type { PageParts } from './parts.ts';
import { preferencesAction } from './preferences.ts';
import type { ConsoleRoute } from './route.ts';

/** All routes of the console. Paths with fewer parameters are matched first: /console/agents/new before /console/agents/:id. */
export function consoleRoutes(parts: PageParts): ConsoleRoute[] {
  const { external, settings } = parts;
  const routes: ConsoleRoute[] = [
    ...pages.flat(),
    preferencesAction,
    ...externalSignInRoutes(parts),
    ...(external ? externalAccountsPage(external) : []),
  ];
  return routes
    .filter(({ path }) => settings.has_remote_agents || !path.startsWith(remotePath))
    .sort((a, b) => countParameters(a.path) - countParameters(b.path));
}

const countParameters = (path: string): number => path.split(':').length;
