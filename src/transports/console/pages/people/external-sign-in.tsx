import type { Context } from 'koa';
import { addressKey } from '../../../http/address-key.ts';
import {
  beginExternalSignIn,
  finishExternalSignIn,
  signUpExternal,
  readSuggestedUsername,
} from '../../../../services/people/external-identities.ts';
import { cookieOf, setCookie } from '../../cookies.ts';
import { successFlash } from '../../flash.ts';
import { NewAccountFields } from './account-fields.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import {
  safeReturnPath,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
} from '../../route.ts';
import { externalFailurePage } from './external-failure.tsx';

const beginPath = '/sign-in/external';
const usernamePath = '/sign-in/external/username';
const cookieLifetimeMs = 1_800_000;

/** Binds the pending sign-in to this browser. */
export function setExternalCookie(ctx: Context, token: string): void {
  setCookie(ctx, 'external', token, cookieLifetimeMs);
}

/** Sign-in and sign-up through an OpenID Connect provider. No routes without a provider. */
export function externalSignInRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, limits, sessions, settings, external } = parts;
  if (!external) return [];
  const { name, provider } = external;
  const { signup } = settings;

  return [
    publicPage(beginPath, async ({ ctx, query, person }) => {
      const to = safeReturnPath(query.get('to'));
      // Only pages of this site can start: another site could sign a visitor in to a foreign account.
      const isCrossSite = ['cross-site', 'same-site'].includes(ctx.get('Sec-Fetch-Site'));
      if (person || isCrossSite) return { to: person ? to : signInAddress(to) };
      await limits.consume('sign_in_address', addressKey(ctx));
      const pending = await beginExternalSignIn(unitOfWork, provider, { to, account_id: null });
      if (!pending) return externalFailurePage('unavailable', name, person);
      setExternalCookie(ctx, pending.token);
      ctx.redirect(pending.address);
      return 'handled';
    }),

    publicPage(`${beginPath}/callback`, async ({ ctx, person }) => {
      const token = cookieOf(ctx, 'external');
      setCookie(ctx, 'external', null);
      if (token === undefined) return externalFailurePage('expired', name, person);
      const callback = { token, query: ctx.querystring, person };
      const result = await finishExternalSignIn(unitOfWork, provider, callback, signup);
      if (result.outcome === 'failed') return externalFailurePage(result.reason, name, person);
      if (result.outcome === 'connected')
        return { to: result.to, flash: successFlash(`Your account is connected with ${name}.`) };
      if (result.outcome === 'new') {
        setExternalCookie(ctx, result.token);
        return { to: usernamePath };
      }
      await sessions.begin(ctx, result.account_id);
      return { to: safeReturnPath(result.to) };
    }),

    publicPage(usernamePath, async ({ ctx, person }) => {
      const pending = await readSuggestedUsername(unitOfWork, cookieOf(ctx, 'external') ?? '');
      if (!pending || signup === 'closed') return externalFailurePage('expired', name, person);
      return choicePage({ name, signup, username: pending.suggested_username ?? undefined });
    }),

    publicAction(usernamePath, ({ ctx, form, person }) => {
      const username = form.get('username') ?? '';
      const invitation = form.get('invitation') ?? undefined;
      return orShowFormAgain(
        async () => {
          await limits.consume('sign_up', addressKey(ctx));
          const token = cookieOf(ctx, 'external') ?? '';
          const opened = await signUpExternal(unitOfWork, token, { username, invitation }, signup);
          if (!opened) return externalFailurePage('expired', name, person);
          setCookie(ctx, 'external', null);
          await sessions.begin(ctx, opened.account_id);
          const text = `Welcome, ${username.trim().toLowerCase()}. Your account is ready.`;
          return { to: safeReturnPath(opened.to), flash: successFlash(text) };
        },
        (formErrors) => choicePage({ name, signup, username, invitation, formErrors }),
      );
    }),
  ];
}

interface ChoicePage {
  name: string;
  signup: PageParts['settings']['signup'];
  username: string | undefined;
  invitation?: string | undefined;
  formErrors?: FormErrors;
}

function choicePage({ name, signup, username, invitation, formErrors }: ChoicePage): ShownPage {
  const errors = formErrors?.fields ?? {};
  const body = (
    <>
      <Heading
        title="Choose a username"
        lead={`You signed in with ${name} for the first time. Choose a username for your new account.`}
      />
      <Card>
        <ErrorNotice {...formErrors} />
        <Form action={usernamePath}>
          <NewAccountFields
            needsInvitation={signup === 'invite'}
            username={username}
            invitation={invitation}
            errors={errors}
          />
          <Button wide>Create account</Button>
        </Form>
      </Card>
      <p class="aside">
        Already have an account? <a href="/sign-in">Sign in</a> with your password, then connect it with{' '}
        {name}.
      </p>
    </>
  );
  return formPage('Choose a username', body, formErrors, 'focus');
}
