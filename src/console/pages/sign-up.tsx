import { addressKey } from '../../http/address-key.ts';
import { signUp } from '../../services/sign-in.ts';
import { said } from '../flash.ts';
import { NewAccountFields, NewPasswordField } from '../kit/account-fields.tsx';
import { Card, Heading, Refused } from '../kit/content.tsx';
import { ExternalLink } from '../kit/external-link.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { returnTo } from '../return-to.ts';
import { type ConsoleRoute, openAction, openPage, type ShownPage, signInAddress } from '../route.ts';

/** Opening an account, where that is allowed (SIGNUP). */
export function signUpRoutes({
  unitOfWork,
  limits,
  sessions,
  settings,
  external,
}: PageParts): ConsoleRoute[] {
  const { signup } = settings;

  return [
    openPage('/sign-up', ({ query, person }) => {
      const to = returnTo(query.get('to'));
      if (person) return { to };
      return signup === 'closed'
        ? closedPage(to)
        : signUpPage({ to, signup, external: external?.name, invitation: query.get('invitation') });
    }),
    openAction('/sign-up', (visit) => {
      const { form } = visit;
      const to = returnTo(form.get('to'));
      const username = form.get('username') ?? '';
      const invitation = form.get('invitation');
      if (signup === 'closed') return { ...closedPage(to), status: 403 };
      return orAgain(
        async () => {
          await limits.spend('sign_up', addressKey(visit.ctx));
          const password = form.get('password') ?? '';
          const wanted = { username, password, invitation: invitation ?? undefined };
          const { account_id } = await signUp(unitOfWork, wanted, signup);
          await sessions.begin(visit.ctx, account_id);
          return { to, flash: said(`Welcome, ${username.trim().toLowerCase()}. Your account is ready.`) };
        },
        (refusal) => signUpPage({ to, signup, external: external?.name, username, invitation, refusal }),
      );
    }),
  ];
}

interface SignUpPage {
  to: string;
  signup: 'open' | 'invite';
  /** Name of the other provider through which people sign in, and up. */
  external: string | undefined;
  username?: string;
  invitation: string | null;
  refusal?: Refusal;
}

function signUpPage({ to, signup, external, username, invitation, refusal }: SignUpPage): ShownPage {
  const wrong = refusal?.fields ?? {};
  const body = (
    <>
      <Heading title="Create an account" lead="It holds your agents, and says what they may do." />
      <Card>
        <Refused {...refusal} />
        <Form action="/sign-up" hidden={{ to }}>
          <NewAccountFields
            invited={signup === 'invite'}
            username={username}
            invitation={invitation ?? undefined}
            wrong={wrong}
          />
          <NewPasswordField
            name="password"
            label="Password"
            hint="A few words that do not belong together are good."
            error={wrong['password']}
          />
          <Button wide>Create the account</Button>
        </Form>
        {external !== undefined && <ExternalLink name={external} to={to} />}
      </Card>
      <p class="aside">
        You have one? <a href={signInAddress(to)}>Sign in</a>
      </p>
    </>
  );
  return formPage('Create an account', body, refusal, 'focus');
}

function closedPage(to: string): ShownPage {
  const body = (
    <>
      <Heading title="Accounts are not open here" />
      <Card>
        <p>Whoever runs this service opens accounts by hand. Ask them for one.</p>
        <Actions>
          <ButtonLink href={signInAddress(to)} kind="primary">
            Sign in
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Accounts are not open here', body, shell: 'focus' };
}
