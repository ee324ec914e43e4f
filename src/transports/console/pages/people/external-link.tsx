import { ButtonLink } from '../../components/form.tsx';

/** The way to sign in through another provider, and to come back to `to`. */
export function ExternalLink({ name, to }: { name: string; to: string }) {
  return (
    <>
      <p class="or">or</p>
      <ButtonLink href={`/sign-in/external?${new URLSearchParams({ to }).toString()}`} wide>
        Continue with {name}
      </ButtonLink>
    </>
  );
}
