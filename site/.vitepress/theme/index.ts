// The default theme, with more contrast where it has too little.
import theme from "vitepress/theme";
import "./contrast.css";

export default theme;
