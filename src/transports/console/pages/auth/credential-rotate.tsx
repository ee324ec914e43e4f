import { type Credential, rotateCredential } from '../../../../services/auth/credentials.ts';
import { secretPage } from '../../components/secrets.tsx';
import { Time } from '../../components/rows.tsx';
import { hiddenField, selectField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { agentPageWith } from '../agents/agent-page.tsx';
import { AgentHeading } from '../agents/heading.tsx';
import { clientSecrets, orSentBefore } from './credential-new.tsx';
import { loadCredential } from './credentials.tsx';

const titleOf = ({ name, client_id }: Credential) => `Rotate the secret of ${name ?? client_id}`;

/** Replaces the secret of a credential. Only the response to the form shows the new one. */
export const credentialRotatePage = agentPageWith<{ credential: Credential }>({
  path: 'credentials/:client_id/rotate',
  tab: 'credentials',
  load: loadCredential,
  title: ({ credential }) => titleOf(credential),
  sections: [
    formSection({
      title: ({ credential }) => titleOf(credential),
      text: 'The credential gets a new secret, which is shown once. Its client ID and scopes stay.',
      fields: {
        rotated_at: hiddenField,
        previous: selectField(
          'The previous secret',
          [
            { value: 'keep', text: 'Works for 24 hours more' },
            { value: 'end', text: 'Ends now' },
          ],
          { hint: 'End it now if others may know it: its tokens and open connections end, too.' },
        ),
      },
      values: ({ credential }) => ({ previous: 'keep', rotated_at: String(credential.rotated_at ?? 0) }),
      button: 'Rotate secret',
      cancel: ({ agentPath }) => agentPath('credentials'),
      submit: ({ agent, agentPath, change, parts, credential }, { previous, rotated_at }) =>
        orSentBefore(agentPath('credentials'), undefined, async () => {
          const { client_id, name } = credential;
          const seen = Number.parseInt(rotated_at, 10) || 0;
          const input = { client_id, agent_id: agent.id, seen, end_previous: previous !== 'keep' };
          const { client_secret, previous_secret_until, ended } = await change(rotateCredential, input);
          await parts.publishRevocations(ended);
          return secretPage({
            heading: <AgentHeading agent={agent} current={agentPath('credentials')} />,
            title: name ?? client_id,
            secrets: clientSecrets(client_id, client_secret),
            text:
              previous_secret_until === null ? (
                <p>The previous secret no longer works.</p>
              ) : (
                <p>
                  The previous secret works until <Time at={previous_secret_until} />.
                </p>
              ),
            next: agentPath('credentials'),
          });
        }),
    }),
  ],
});
