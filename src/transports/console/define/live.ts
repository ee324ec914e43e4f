import { countOpenApprovals } from '../../../services/people/dashboard.ts';
import type { LiveUpdate } from '../live-streams.ts';
import { type ConsoleRoute, type PersonVisit, publicPage } from '../route.ts';

/**
 * The stream of the part of a page that is kept up to date.
 * @param target the id of the part
 * @param render reads and renders the part with the current rights of the person
 * @param threadParameter the parameter of the path that names a conversation, if the page is that of one
 */
export function liveRoute(
  path: string,
  target: string,
  render: (visit: PersonVisit) => Promise<LiveUpdate>,
  threadParameter?: string,
): ConsoleRoute {
  return publicPage(path, (visit) => {
    const { ctx, person, params, parts } = visit;
    parts.live.serve(ctx, person, {
      target,
      ...(threadParameter !== undefined && { thread_id: params[threadParameter] ?? '' }),
      async render() {
        // A stream without a person ends at once.
        const ofPerson = visit as PersonVisit;
        const { account_id } = ofPerson.person;
        const [update, openApprovals] = await Promise.all([
          render(ofPerson),
          visit.read(countOpenApprovals, account_id),
        ]);
        return { ...update, openApprovals };
      },
    });
    return 'handled';
  });
}
