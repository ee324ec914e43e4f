import { accountRoutes } from './pages/account.tsx';
import { consentRoutes } from './pages/consent.tsx';
import { homeRoutes } from './pages/home.tsx';
import { sessionRoutes } from './pages/sessions.tsx';
import { signInRoutes } from './pages/sign-in.tsx';
import { signOutRoutes } from './pages/sign-out.ts';
import { signUpRoutes } from './pages/sign-up.tsx';
import { startRoutes } from './pages/start.tsx';
import type { PageParts } from './parts.ts';
import type { ConsoleRoute } from './route.ts';

/** Every page and every form of the console. */
export function consoleRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    ...startRoutes(parts),
    ...signInRoutes(parts),
    ...signUpRoutes(parts),
    ...signOutRoutes(parts),
    ...consentRoutes(parts),
    ...homeRoutes(parts),
    ...accountRoutes(parts),
    ...sessionRoutes(parts),
  ];
}
