import { type ReactElement, type ReactNode, useState } from "react";
import { brandStyle } from "./brand.ts";
import type { ShownIntake } from "./intake-texts.ts";

interface FrameProps {
  intake?: Pick<ShownIntake, "branding">;
  /** Inside somebody else's page there is a head and a main part already. */
  isPage?: boolean;
  children: ReactNode;
}

/** The head of every page: whose form it is, in their colour. */
export function Frame({ intake, isPage = true, children }: FrameProps): ReactElement {
  const { name, logo, color } = intake?.branding ?? {};
  if (!isPage) return <div className="pg-main">{children}</div>;
  return (
    <div className="pg-frame" style={brandStyle(color)}>
      {(name !== undefined || logo !== undefined) && (
        <header className="pg-head">
          {logo !== undefined && <Logo src={logo} />}
          {name !== undefined && <span className="pg-brand">{name}</span>}
        </header>
      )}
      <main className="pg-main">{children}</main>
    </div>
  );
}

function Logo({ src }: { src: string }): ReactElement | null {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return null;
  return <img className="pg-logo" src={src} alt="" onError={() => setBroken(true)} />;
}
