import type { LiveUpdate } from '../live-streams.ts';
import { type ConsoleRoute, type PersonVisit, publicPage } from '../route.ts';

/**
 * The stream of the part of a page that is kept up to date. With an `id` in its path it is that of one conversation.
 * @param target the id of the part
 * @param render reads and renders the part with the current rights of the person
 */
export function liveRoute(
  path: string,
  target: string,
  render: (visit: PersonVisit) => Promise<LiveUpdate>,
): ConsoleRoute {
  return publicPage(path, (visit) => {
    const { ctx, person, params, parts } = visit;
    const { id: thread_id } = params;
    parts.live.serve(ctx, person, {
      target,
      ...(thread_id !== undefined && { thread_id }),
      // A stream without a person ends at once.
      render: () => render(visit as PersonVisit),
    });
    return 'handled';
  });
}
