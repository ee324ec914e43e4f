import { successFlash } from '../../flash.ts';
import type { PageParts } from '../../parts.ts';
import { safeReturnPath } from '../../return-path.ts';
import { type ConsoleRoute, publicAction, signInAddress } from '../../route.ts';

/** Signing out; with `to`, so that somebody else can go on with what was begun here. */
export function signOutRoutes({ sessions }: PageParts): ConsoleRoute[] {
  return [
    publicAction('/sign-out', async ({ ctx, form }) => {
      await sessions.end(ctx);
      return {
        to: signInAddress(safeReturnPath(form.get('to'))),
        flash: successFlash('You are signed out.'),
      };
    }),
  ];
}
