import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { requireOrganization, removeMember } from '../../../../services/people/memberships.ts';
import { defineConfirmation } from '../../define/page.tsx';
import { successFlash } from '../../flash.ts';
import { organizationAddress } from './organization.tsx';

/** Removes a member from an organization, or lets a member leave. */
export const memberRemovePage = defineConfirmation({
  path: '/console/organizations/:slug/members/:username/remove',
  async load(visit) {
    const { ctx, read, person, params } = visit;
    const { slug, role } = await read(requireOrganization, person, params['slug'] ?? '', { limit: 1 });
    const username = params['username'] ?? '';
    const isSelf = username === person.username;
    if (!isName(username)) throw new DomainError('NOT_FOUND', 'This member does not exist.');
    if (ctx.method === 'GET' && !isSelf && role !== 'admin')
      throw new DomainError('FORBIDDEN', `Only admins of ${slug} can do this.`);
    return { ...visit, slug, username, isSelf };
  },
  title: ({ slug, username, isSelf }) => (isSelf ? `Leave ${slug}?` : `Remove ${username} from ${slug}?`),
  text: ({ slug, username, isSelf }) => (
    <>
      <p>
        {isSelf ? 'You lose' : `${username} loses`} access to the agents of {slug} immediately, and apps that{' '}
        {isSelf ? 'you' : 'they'} connected to them are disconnected. The agents stay with {slug} and its
        admins.
      </p>
      <p>
        Credentials keep working, no matter who created them.{' '}
        {isSelf
          ? 'Give the ones that others need to an admin.'
          : 'Revoke those of shared agents that they know. Pause or delete the agents that they managed.'}
      </p>
    </>
  ),
  button: ({ isSelf }) => (isSelf ? 'Leave' : 'Remove'),
  back: ({ slug }) => organizationAddress(slug),
  async change({ slug, username, isSelf, person, parts, write }) {
    await parts.publishRevocations(await write(removeMember, person, { slug, username }));
    if (!isSelf) return `Removed ${username} from ${slug}.`;
    return { to: '/console/organizations', flash: successFlash(`You have left ${slug}.`) };
  },
});
