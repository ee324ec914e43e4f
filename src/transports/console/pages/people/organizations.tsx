import { isName } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { listInvitationsOfPerson } from '../../../../services/people/membership-invitations.ts';
import { foundOrganization, listOrganizations } from '../../../../services/people/memberships.ts';
import { monogram, Time } from '../../components/rows.tsx';
import { formSection } from '../../define/form.tsx';
import { listSection, toPage } from '../../define/list.tsx';
import { personPage } from '../../define/page.tsx';
import { successFlash } from '../../flash.ts';
import { name } from './account-fields.tsx';
import { invitationRow } from './membership-invitations.tsx';

const pageSize = 50;

/** Lists the organizations of a person and creates new ones. */
export const organizationsPage = personPage({
  path: '/console/organizations',
  title: 'Organizations',
  lead: 'An organization owns agents. Its admins manage all of them; each member manages their own.',
  sections: [
    listSection({
      title: 'Invitations',
      label: 'Invitations',
      read: async ({ read, person }) => ({ items: await read(listInvitationsOfPerson, person) }),
      row: (invitation) => invitationRow(invitation),
    }),
    listSection({
      title: 'Your organizations',
      label: 'Organizations',
      noun: 'organizations',
      async read({ read, person, query }) {
        const after = query.get('after') ?? '';
        const where = { after: isName(after) ? after : '', limit: pageSize + 1 };
        return toPage(await read(listOrganizations, person, where), pageSize, ({ slug }) => ({
          after: slug,
        }));
      },
      row: ({ id, slug, role, created_at }, { address }) => ({
        key: id,
        mark: monogram(slug),
        title: <a href={`${address}/${slug}`}>{slug}</a>,
        text: ['Created ', <Time at={created_at} />],
        badges: [role === 'admin' ? ['accent', 'Admin'] : ['plain', 'Member']],
      }),
    }),
    formSection({
      title: 'Create an organization',
      fields: {
        slug: name('Name', 'The handles of its agents start with it. It cannot be changed later.'),
      },
      button: 'Create organization',
      errors: { DUPLICATE_HANDLE: 'slug' },
      async submit({ address, person, parts, write }, entered) {
        // Like a sign-up, the result reveals which names are taken.
        await parts.limits.consume('sign_up', person.account_id);
        const { slug } = await write(foundOrganization, person, entered.slug);
        return { to: `${address}/${slug}`, flash: successFlash(`Created ${slug}. You are its admin.`) };
      },
    }),
  ],
});
