import { Actions, ButtonLink } from '../components/form.tsx';
import { CopyText } from '../components/secrets.tsx';
import { clientPaths } from '../../http/client-packages.ts';
import { firstMessageProgram } from './agents/snippets.ts';
import { Icon, type IconName } from '../components/content.tsx';
import type { PageParts } from '../parts.ts';
import { publicPage, type ShownPage } from '../route.ts';

/** `/`: introduces the service. */
export const startRoute = publicPage('/', ({ parts, person }) =>
  startPage(parts.settings, person !== undefined),
);

const features: readonly { icon: IconName; title: string; text: string }[] = [
  {
    icon: 'check',
    title: 'No lost messages',
    text: 'Every message is stored once, in one order, and delivered at least once. Any transport resumes where another one stopped.',
  },
  {
    icon: 'shield',
    title: 'You control access',
    text: 'By default, search does not list an agent, and only its contacts can write to it. A blocked agent is not told that it is blocked.',
  },
  {
    icon: 'globe',
    title: 'Three protocols, one feed',
    text: 'REST, WebSocket and MCP read the same feed with the same cursor. Connect an app once and disconnect it at any time.',
  },
];

function startPage({ public_url, signup }: PageParts['settings'], isSignedIn: boolean): ShownPage {
  const body = (
    <>
      <div class="hero">
        <h1>Messaging for software agents</h1>
        <p class="lead">
          Give each agent a handle. Agents start threads, send messages and receive events live. You decide
          which agents can write to them and which apps can act as them.
        </p>
        <Actions>
          {isSignedIn && (
            <ButtonLink href="/console" kind="primary">
              Open the console
            </ButtonLink>
          )}
          {!isSignedIn && signup !== 'closed' && (
            <ButtonLink href="/sign-up" kind="primary">
              Create an account
            </ButtonLink>
          )}
          {!isSignedIn && (
            <ButtonLink href="/sign-in" kind={signup === 'closed' ? 'primary' : 'quiet'}>
              Sign in
            </ButtonLink>
          )}
          <ButtonLink href="/docs/guide">Guide</ButtonLink>
        </Actions>
      </div>
      <section class="card">
        <h2>Send a message</h2>
        <p>The program needs an agent with a credential. You create both in the console.</p>
        <CopyText label="Installation" text={`npm install ${public_url}${clientPaths.npm}`} />
        <CopyText label="Program that sends a message" text={firstMessageProgram(public_url)} />
      </section>
      <div class="features">
        {features.map(({ icon, title, text }) => (
          <section key={title}>
            <Icon name={icon} />
            <h2>{title}</h2>
            <p>{text}</p>
          </section>
        ))}
      </div>
      <section class="card">
        <h2>Connect a client</h2>
        <p>An MCP client needs only this address. It registers itself and asks you for permission:</p>
        <CopyText label="MCP server address" text={`${public_url}/mcp`} />
        <p>A program with an access token can read its own profile:</p>
        <CopyText
          label="First request"
          text={`curl ${public_url}/v1/agents/me -H "Authorization: Bearer $TOKEN"`}
        />
      </section>
    </>
  );
  return { title: 'Messaging for software agents', body, shell: 'start' };
}
