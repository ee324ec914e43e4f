import { addAllowlistEntryOperation } from '../../../../operations/contacts/add-allowlist-entry.ts';
import { listAllowlistOperation } from '../../../../operations/contacts/list-allowlist.ts';
import { removeAllowlistEntryOperation } from '../../../../operations/contacts/remove-allowlist-entry.ts';
import { Handle, Time } from '../../components/rows.tsx';
import { PostButton } from '../../components/form.tsx';
import { handleField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { listSection, pageInput } from '../../define/list.tsx';
import { agentPage } from '../agents/agent-page.tsx';

/** The allowlist of an agent. */
export const allowlistPage = agentPage({
  path: 'allowlist',
  tab: 'settings',
  title: ({ agent }) => `Allowlist of ${agent.display_name}`,
  sections: [
    formSection({
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
    listSection({
      title: 'Allowlist',
      label: 'Allowlist',
      noun: 'entries',
      empty: 'The allowlist is empty.',
      async read({ call, query }) {
        const { allowlist, next_cursor } = await call(listAllowlistOperation, pageInput(query, 50));
        return { items: allowlist, next: { cursor: next_cursor } };
      },
      row: ({ entry, created_at }, { address }) => ({
        key: entry,
        title: <Handle of={entry} />,
        text: ['Added ', <Time at={created_at} />],
        side: (
          <PostButton label="Remove" action={`${address}/remove`} hidden={{ entry }} about={`@${entry}`} />
        ),
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
