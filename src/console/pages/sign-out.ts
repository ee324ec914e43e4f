import { said } from '../flash.ts';
import type { PageParts } from '../parts.ts';
import { returnTo } from '../return-to.ts';
import { type ConsoleRoute, openAction, signInAddress } from '../route.ts';

/** Signing out; with `to`, so that somebody else can go on with what was begun here. */
export function signOutRoutes({ sessions }: PageParts): ConsoleRoute[] {
  return [
    openAction('/sign-out', async ({ ctx, form }) => {
      await sessions.end(ctx);
      return { to: signInAddress(returnTo(form.get('to'))), flash: said('You are signed out.') };
    }),
  ];
}
