import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { presentRemoteAgent } from '../../../../../packages/core/src/records/remote-agent.ts';
import { listRemoteAgentsOfPerson } from '../../../../services/remote/of-person.ts';
import { Icon } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Handle } from '../../components/rows.tsx';
import { listSection, toPage } from '../../define/list.tsx';
import { personPage } from '../../define/page.tsx';
import { RemoteState, remotePath } from './state.tsx';

const pageSize = 50;

/** The agents of other systems that a person owns or administers. */
export const remoteAgentsPage = personPage({
  path: remotePath,
  title: 'Agents of other systems',
  back: { href: '/console/agents', text: 'Agents' },
  lead: 'Agents of other services, which your agents reach over A2A.',
  sections: [
    listSection({
      label: 'Agents of other systems',
      noun: 'agents',
      empty: {
        title: 'No agents of other systems',
        text: 'Add one by the address of its A2A card. Then your agents can write to it by its handle here.',
      },
      action: () => (
        <>
          <ButtonLink href={`${remotePath}/new`} kind="primary">
            Add an agent
          </ButtonLink>{' '}
          <ButtonLink href={`${remotePath}/invitations`}>Invitations</ButtonLink>
        </>
      ),
      async read({ read, query, person }) {
        const after = query.get('after') ?? '';
        const where = { after: isHandle(after) ? after : '', limit: pageSize + 1 };
        const found = await read(listRemoteAgentsOfPerson, person.account_id, where);
        return toPage(found.map(presentRemoteAgent), pageSize, (last) => ({ after: last.canonical_handle }));
      },
      row: (agent) => ({
        key: agent.id,
        mark: <Icon name="globe" />,
        title: <a href={`${remotePath}/${agent.id}`}>{agent.display_name}</a>,
        lines: [[<Handle of={agent.canonical_handle} />], [<span class="code">{agent.card_url}</span>]],
        side: <RemoteState {...agent} />,
      }),
    }),
  ],
});
