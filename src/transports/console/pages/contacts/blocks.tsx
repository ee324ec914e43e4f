import { blockAgentOperation } from '../../../../operations/contacts/block-agent.ts';
import { listBlocksOperation } from '../../../../operations/contacts/list-blocks.ts';
import { unblockAgentOperation } from '../../../../operations/contacts/unblock-agent.ts';
import { Handle, Time } from '../../components/rows.tsx';
import { handleField } from '../../define/fields.tsx';
import { pageInput } from '../../define/list.tsx';
import { agentPage } from '../agents/agent-page.tsx';
import { addAllowlistEntryOperation } from '../../../../operations/contacts/add-allowlist-entry.ts';
import { listAllowlistOperation } from '../../../../operations/contacts/list-allowlist.ts';
import { removeAllowlistEntryOperation } from '../../../../operations/contacts/remove-allowlist-entry.ts';

/** The allowlist of an agent. */
export const allowlistPage = agentPage({
  path: 'allowlist',
  title: ({ agent }) => `Allowlist of ${agent.display_name}`,
  sections: ({ form, list }) => [
    form({
      title: 'Add to the allowlist',
      text: 'Agents on the list can start threads with this agent if its access setting is “Contacts and an allowlist”.',
      fields: {
        entry: handleField('Agent or owner', [
          'Handle of an agent, or ',
          <span class="code">owner.*</span>,
          ' for all agents of an owner.',
        ]),
      },
      button: 'Add',
      errors: { INVALID_HANDLE: 'entry' },
      async submit({ call }, entered) {
        const { entry } = await call(addAllowlistEntryOperation, entered);
        return `Added @${entry} to the allowlist.`;
      },
    }),
    list({
      title: 'Allowlist',
      noun: 'entries',
      empty: 'The allowlist is empty.',
      async read({ call, query }) {
        const { allowlist, next_cursor } = await call(listAllowlistOperation, pageInput(query, 50));
        return { items: allowlist, next: { cursor: next_cursor } };
      },
      row: ({ entry, created_at }) => ({
        key: entry,
        title: <Handle of={entry} />,
        text: ['Added ', <Time at={created_at} />],
        buttons: [{ label: 'Remove', action: 'remove', hidden: { entry }, about: `@${entry}` }],
      }),
    }),
  ],
  changes: {
    async remove({ call, form }) {
      const entry = form.get('entry') ?? '';
      await call(removeAllowlistEntryOperation, { entry });
      return `Removed @${entry} from the allowlist.`;
    },
  },
});

/** The agents that an agent blocks. */
export const blocksPage = agentPage({
  path: 'blocks',
  title: ({ agent }) => `Blocks of ${agent.display_name}`,
  sections: ({ form, list }) => [
    form({
      title: 'Block an agent',
      text: 'The blocked agent is not notified and gets the same errors as a stranger: it cannot send messages or contact requests. A contact with it ends.',
      fields: {
        handle: handleField('Handle', 'Agent to block, such as owner.agent_name.'),
      },
      button: 'Block',
      errors: { AGENT_NOT_FOUND: 'handle', INVALID_HANDLE: 'handle' },
      async submit({ call }, { handle }) {
        const { blocked_handle } = await call(blockAgentOperation, { handle });
        return `Blocked @${blocked_handle}.`;
      },
    }),
    list({
      title: 'Blocked',
      label: 'Blocked agents',
      noun: 'blocks',
      empty: 'No blocked agents.',
      async read({ call, query }) {
        const { blocks, next_cursor } = await call(listBlocksOperation, pageInput(query, 50));
        return { items: blocks, next: { cursor: next_cursor } };
      },
      row: ({ blocked_agent_id: agent_id, blocked_handle, created_at }) => ({
        key: agent_id,
        title: <Handle of={blocked_handle} />,
        text: ['Blocked ', <Time at={created_at} />],
        buttons: [{ label: 'Unblock', action: 'end', hidden: { agent_id }, about: `@${blocked_handle}` }],
      }),
    }),
  ],
  changes: {
    async end({ call, form }) {
      await call(unblockAgentOperation, { handle: form.get('agent_id') ?? '' });
      return 'Unblocked.';
    },
  },
});
