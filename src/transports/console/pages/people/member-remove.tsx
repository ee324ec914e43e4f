import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { DomainError } from '../../../../domain/errors.ts';
import { isName } from '../../../../domain/agents/handles.ts';
import { requireOrganization, removeMember } from '../../../../services/people/memberships.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { organizationAddress } from './organization.tsx';

const path = '/console/organizations/:slug/members/:username/remove';

/** Taking somebody out of an organization, or leaving it. */
export function memberRemoveRoutes({ unitOfWork, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { slug, role } = await unitOfWork.readAsSystem((all) =>
        requireOrganization(all, person, params['slug'] ?? '', { limit: 1 }),
      );
      const username = params['username'] ?? '';
      const self = username === person.username;
      if (!isName(username)) throw new DomainError('NOT_FOUND', 'There is no such member.');
      if (!self && role !== 'admin')
        throw new DomainError('FORBIDDEN', `Only admins of ${slug} may do that.`);
      return confirmPage({
        title: self ? `Leave ${slug}?` : `Remove ${username} from ${slug}?`,
        children: (
          <>
            <p>
              {self ? 'You lose' : `${username} loses`} the agents of {slug} at once, and apps that{' '}
              {self ? 'you' : 'they'} connected to them are disconnected. The agents stay with {slug}; its
              admins go on managing them.
            </p>
            <p>
              Credentials go on working, whoever made them.{' '}
              {self
                ? 'Hand over those that others need.'
                : 'Revoke those of shared agents that they know; pause or delete agents that were tied to them.'}
            </p>
          </>
        ),
        action: `${organizationAddress(slug)}/members/${username}/remove`,
        button: self ? 'Leave' : 'Remove',
        back: organizationAddress(slug),
      });
    }),
    action(path, async ({ params, person }) => {
      const { slug } = await unitOfWork.readAsSystem((all) =>
        requireOrganization(all, person, params['slug'] ?? '', { limit: 1 }),
      );
      const username = params['username'] ?? '';
      const self = username === person.username;
      const done = await redirectOrWarn(organizationAddress(slug), async () => {
        await publishRevocations(
          await unitOfWork.writeAsSystem(
            (work) => removeMember(work, person, { slug, username }),
            authorFromPerson(person),
          ),
        );
        return self ? `You have left ${slug}.` : `${username} is removed from ${slug}.`;
      });
      return self && done.flash?.tone === 'good' ? { ...done, to: '/console/organizations' } : done;
    }),
  ];
}
