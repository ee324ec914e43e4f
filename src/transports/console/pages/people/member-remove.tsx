import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { requireOrganization, removeMember } from '../../../../services/people/memberships.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type Redirect } from '../../route.ts';
import { organizationAddress } from './organization.tsx';

const path = '/console/organizations/:slug/members/:username/remove';

/** Removes a member from an organization, or lets a member leave. */
export function memberRemoveRoutes({ unitOfWork, publishRevocations }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { slug, role } = await unitOfWork.read(system, (work) =>
        requireOrganization(work, person, params['slug'] ?? '', { limit: 1 }),
      );
      const username = params['username'] ?? '';
      const isSelf = username === person.username;
      if (!isName(username)) throw new DomainError('NOT_FOUND', 'This member does not exist.');
      if (!isSelf && role !== 'admin')
        throw new DomainError('FORBIDDEN', `Only admins of ${slug} can do this.`);
      return confirmPage({
        title: isSelf ? `Leave ${slug}?` : `Remove ${username} from ${slug}?`,
        children: (
          <>
            <p>
              {isSelf ? 'You lose' : `${username} loses`} access to the agents of {slug} immediately, and apps
              that {isSelf ? 'you' : 'they'} connected to them are disconnected. The agents stay with {slug}{' '}
              and its admins.
            </p>
            <p>
              Credentials keep working, no matter who created them.{' '}
              {isSelf
                ? 'Give the ones that others need to an admin.'
                : 'Revoke those of shared agents that they know. Pause or delete the agents that they managed.'}
            </p>
          </>
        ),
        action: `${organizationAddress(slug)}/members/${username}/remove`,
        button: isSelf ? 'Leave' : 'Remove',
        back: organizationAddress(slug),
      });
    }),
    action(path, async ({ params, person }) => {
      const { slug } = await unitOfWork.read(system, (work) =>
        requireOrganization(work, person, params['slug'] ?? '', { limit: 1 }),
      );
      const username = params['username'] ?? '';
      const isSelf = username === person.username;
      const result = await redirectOrWarn<Redirect>(organizationAddress(slug), async () => {
        await publishRevocations(
          await unitOfWork.write(authorFromPerson(person), (work) =>
            removeMember(work, person, { slug, username }),
          ),
        );
        return isSelf ? `You have left ${slug}.` : `Removed ${username} from ${slug}.`;
      });
      return isSelf && result.flash?.tone === 'good' ? { ...result, to: '/console/organizations' } : result;
    }),
  ];
}
